import type { RestError } from "../../rest/errors.ts";
import type { BodyForm } from "../../body-forms.ts";
import { TypedKeys } from "../../json/typed-keys.ts";
import type { Api, Echo } from "../../rest/types.ts";
import { show } from "../../text/show.ts";
import type { Clock, Request } from "../types.ts";
import { Redetection, detectFlavour } from "./detect-flavour.ts";
import { VALID_FOR, type Recognition, type ServiceOptions } from "./service-memory.ts";
import { Searches } from "../documents/searches.ts";
import { Canary } from "./canary.ts";
import { FirstWrites } from "./first-writes.ts";

/** Detections from which on a service that does not answer a PATCH counts as one that does not know it. */
const PATIENCE = 3;

/** How the flavour is known. The form and what a write has proven change while it is. */
type Found = Omit<Recognition, "form" | "proven" | "unrouted">;

/** The knowledge of a command about its service: the flavour, and whether updates arrive. It is updated by answers. */
export class Service {
	readonly clock: Clock;
	readonly searches: Searches;
	readonly canary = new Canary();
	/** the types of metadata keys, by all documents that were read */
	readonly typedKeys = new TypedKeys();
	readonly firstWrites = new FirstWrites(this);
	readonly #options: ServiceOptions;
	readonly #noted = new Set<string>();
	readonly #redetection = new Redetection();
	#api: Api;
	#found: Found | undefined;
	#detecting: Promise<Recognition> | undefined;
	#asked = 0;
	#remembered: Promise<void> | undefined;

	constructor(options: ServiceOptions) {
		this.clock = options.clock;
		this.searches = new Searches(this, options.maxOutage);
		this.#api = this.searches.watching(options.api, this.typedKeys);
		this.#options = { ...options, api: this.#api };
		if (options.flavour === undefined) return;
		const how = `given by ${options.flavour.origin}`;
		this.#speak({ flavour: options.flavour.value, how, foundAt: options.now(), origin: "given" });
	}

	/** in the dialect that is known now; before any is known, in the documented one */
	get api(): Api {
		return this.#api;
	}

	get recognition(): Recognition | undefined {
		const [proven, { form }, { unrouted }] = [this.canary.echo, this.#api.dialect, this.#redetection];
		return this.#found && { ...this.#found, form, proven, unrouted };
	}

	/** Takes the dialect that an earlier command learned, if there was one. Sends no request. */
	remember(): Promise<void> {
		return (this.#remembered ??= this.#recall());
	}

	/** Detects the flavour, unless it is known. Resolves with the service in its dialect. */
	async known(request: Request): Promise<Api> {
		await this.remember();
		if (this.#found === undefined) await this.detect(request);
		return this.#api;
	}

	/** Detects the flavour and remembers it; one that the user gave stays in use. Concurrent calls share one detection. */
	detect(request: Request): Promise<Recognition> {
		return (this.#detecting ??= this.#detectNow(request).finally(() => (this.#detecting = undefined)));
	}

	/**
	 * Detects the flavour again where an answer did not fit the dialect of its request.
	 *
	 * @param spoken the service in the dialect of that request
	 * @param error the answer, where it was a refusal
	 * @returns whether the work may be begun again: in another dialect, or in the same with a new canary
	 */
	async redetect(spoken: Api, request: Request, error?: RestError): Promise<boolean> {
		if (spoken !== this.#api) return true;
		if (this.#found?.origin === "given") return false;
		// Answers from before the service was changed no longer count.
		if (this.#found?.origin === "remembered") this.#redetection.remember();
		if (error !== undefined) this.#redetection.note(error, this.canary.echo !== undefined);
		if (!this.#redetection.isDue(error, this.clock.now())) return false;
		const wasProven = this.canary.echo !== undefined;
		await this.detect(request);
		if (spoken !== this.#api) {
			this.#redetection.changed();
			return true;
		}
		this.#redetection.confirmed(error, this.clock.now());
		// The same flavour, which no longer takes this form. All forms are tried again.
		if (!wasProven || this.forms.length === 1) return false;
		this.canary.revoke();
		return true;
	}

	/** The body forms that may be tried; the form in use comes first. */
	get forms(): readonly BodyForm[] {
		const { flavour, form } = this.#api.dialect;
		if (this.#options.form !== undefined || flavour.update.forms.length === 1) return [form];
		return [form, ...flavour.update.forms.filter((other) => other !== form)];
	}

	/** An update of that form was read back, and its success named its document in that way. */
	async confirmed(spoken: Api, echo: Echo): Promise<void> {
		// Another flavour was detected meanwhile.
		if (spoken.dialect.flavour !== this.#api.dialect.flavour) return;
		this.#api = spoken;
		this.canary.confirm(echo);
		await this.#save();
	}

	/** An update may have arrived in that form. It is tried first from now on. */
	prefer(spoken: Api): void {
		if (spoken.dialect.flavour === this.#api.dialect.flavour) this.#api = spoken;
	}

	/** A success named its document in another way than the canary did: another server answers. */
	async otherEcho(spoken: Api, request: Request): Promise<boolean> {
		if (spoken !== this.#api || this.canary.echo === undefined) return false;
		this.canary.revoke();
		return this.redetect(spoken, request);
	}

	/** Written metadata can't be read back. Warns once. With `all`, every success counts from now on. */
	unreadable(spoken: Api, why: string, all: boolean): void {
		if (this.canary.trustsSuccess || spoken.dialect.flavour !== this.#api.dialect.flavour) return;
		this.#api = spoken;
		if (all) this.canary.unreadable();
		const text = `warning: ${why}, so what is written can't be read back; successes rest on the service's answers alone`;
		this.noteOnce("unreadable", text);
	}

	note(text: string): void {
		this.#options.note(text);
	}

	/** Prints the first of many equal notes. Notes with the same `what` are equal. */
	noteOnce(what: string, text: string): void {
		if (this.#noted.has(what)) return;
		this.#noted.add(what);
		this.note(text);
	}

	/** A text from the service or from a manifest, safe to print. */
	show(text: string): string {
		return show(this.#options.redact === undefined ? text : this.#options.redact(text));
	}

	async #recall(): Promise<void> {
		const remembered = await this.#options.memory?.load();
		if (remembered === undefined) return;
		const { unrouted, form, proven, ...found } = remembered;
		if (this.#found === undefined) {
			// An old entry is enough for reading. The flavour is detected before anything is written.
			const age = this.#options.now() - found.foundAt;
			const fresh = age >= 0 && age < VALID_FOR;
			this.#speak({ ...found, origin: "remembered" }, form);
			if (!fresh) this.#found = undefined;
			else this.#redetection.remember(unrouted);
		}
		const { dialect } = this.#api;
		const same = dialect.flavour === found.flavour && dialect.form === form;
		if (same && proven !== undefined && this.#found !== undefined) this.canary.remembered(proven);
	}

	async #detectNow(request: Request): Promise<Recognition> {
		await this.remember();
		const known = await this.#options.memory?.load();
		this.#asked += 1;
		const { flavour, how } = await detectFlavour(this.#options.api, request, {
			isPatient: this.#asked < PATIENCE,
			unrouted: this.#redetection.unrouted,
		});
		this.#asked = 0;
		const { flavour: spoken } = this.#api.dialect;
		const found = { flavour, how, foundAt: this.#options.now(), origin: "found" } as const;
		if (this.#found?.origin === "given") return { ...found, form: flavour.update.forms[0], proven: undefined };
		if (this.#found !== undefined && flavour === spoken) this.#found = found;
		else {
			if (this.#found !== undefined) {
				this.note(`The service now answers as ${flavour.servers}, no longer as ${spoken.servers}.`);
			}
			// The form that arrived then is tried first. It needs a canary again.
			this.#speak(found, known?.flavour === flavour && known.proven !== undefined ? known.form : undefined);
			this.canary.revoke();
		}
		await this.#save();
		return { ...found, form: this.#api.dialect.form, proven: this.canary.echo };
	}

	#speak(found: Found, form?: BodyForm): void {
		const { flavour } = found;
		const [preferred] = flavour.update.forms;
		let wanted = this.#options.form ?? form ?? preferred;
		if (!flavour.update.forms.includes(wanted)) {
			this.note(`--body ${wanted} is ignored: ${flavour.servers} takes ${preferred} alone.`);
			wanted = preferred;
		}
		this.#api = this.#options.api.as({ flavour, form: wanted });
		this.#found = found;
	}

	/** A flavour that the user gave is not remembered: it holds for this command alone. */
	async #save(): Promise<void> {
		const recognition = this.recognition;
		if (recognition === undefined || recognition.origin === "given") return;
		await this.#options.memory?.save(recognition);
	}
}
