import { RestError } from "../../rest/errors.ts";
import type { BodyForm } from "../../body-forms.ts";
import type { Flavour } from "../../rest/flavours.ts";
import type { Api, Echo } from "../../rest/types.ts";
import { show } from "../../text/show.ts";
import type { Request, Clock } from "../types.ts";
import { Redetection, detectFlavour } from "./detect-flavour.ts";
import { BELIEVED_FOR, type Recognition, type RememberedService, type ServiceMemory } from "./service-memory.ts";
import { Lookup } from "../documents/find-document.ts";
import { Canary } from "./canary.ts";

export type ServiceOptions = {
	/** in the dialect to speak until another is found out */
	readonly api: Api;
	readonly memory: ServiceMemory;
	readonly clock: Clock;
	/** wall clock, in epoch milliseconds */
	readonly now: () => number;
	/** what the user said, and where: not found out, not doubted */
	readonly flavour?: { readonly value: Flavour; readonly origin: string } | undefined;
	/** the form the user wants; RAGFlow servers get none but their own */
	readonly form?: BodyForm | undefined;
	/** takes a sentence that the user must see */
	readonly note: (text: string) => void;
	/** masks the key, which a server may give back */
	readonly redact?: ((text: string) => string) | undefined;
};

/** Attempts to find the flavour out, from which on a PATCH without an answer is taken for one that is not known. */
const PATIENCE = 3;

/** Times that a piece of work is begun anew because the service turned out to be another than it was taken for. */
const CHANGES = 3;

/** What a command knows of the service it talks to: its flavour, and whether updates arrive. Learns as it goes. */
export class Service {
	readonly clock: Clock;
	readonly lookup = new Lookup();
	readonly canary = new Canary();
	readonly #options: ServiceOptions;
	readonly #noted = new Set<string>();
	readonly #redetection = new Redetection();
	#api: Api;
	#recognition: Recognition | undefined;
	#finding: Promise<Recognition> | undefined;
	#asked = 0;
	#remembered: Promise<void> | undefined;

	constructor(options: ServiceOptions) {
		this.#options = options;
		this.clock = options.clock;
		this.#api = options.api;
		if (options.flavour === undefined) return;
		const how = `given by ${options.flavour.origin}`;
		this.#speak({ flavour: options.flavour.value, how, foundAt: options.now() }, "given");
	}

	/** in the dialect that is known now; the documented one before anything is */
	get api(): Api {
		return this.#api;
	}

	get recognition(): Recognition | undefined {
		return this.#recognition && { ...this.#recognition, form: this.#api.dialect.form, proven: this.canary.echo };
	}

	/** Speaks as an earlier run learned to, if there was one. Asks the service nothing. */
	remember(): Promise<void> {
		return (this.#remembered ??= this.#recall());
	}

	/** Finds the flavour out, unless it is known. Resolves with the service in its dialect. */
	async known(request: Request): Promise<Api> {
		await this.remember();
		if (this.#recognition === undefined) await this.findOut(request);
		return this.#api;
	}

	/**
	 * Asks the service, whatever was known, and remembers the answer. Those who ask together ask once.
	 *
	 * @returns what it answered as; a flavour that the user gave is spoken all the same
	 */
	findOut(request: Request): Promise<Recognition> {
		return (this.#finding ??= this.#find(request).finally(() => (this.#finding = undefined)));
	}

	/**
	 * An answer did not fit what was spoken.
	 *
	 * @param spoken the dialect of the request that was answered
	 * @param error the answer, where it was a refusal
	 * @returns whether there is something new to try: another dialect by now, or the same one to be proven again
	 */
	async contradicted(spoken: Api, request: Request, error?: RestError): Promise<boolean> {
		if (spoken !== this.#api) return true;
		if (this.#recognition?.origin === "given") return false;
		if (!this.#redetection.isDue(error, this.clock.now())) return false;
		const wasProven = this.canary.echo !== undefined;
		await this.findOut(request);
		if (spoken !== this.#api) {
			this.#redetection.changed();
			return true;
		}
		this.#redetection.confirmed(error, this.clock.now());
		// The same flavour, which takes this form no longer: the forms are tried anew.
		if (!wasProven || this.forms.length === 1) return false;
		this.canary.revoke();
		return true;
	}

	/**
	 * Does a piece of work in the dialect that is known, and anew in another where an answer shows that it is spoken.
	 *
	 * @throws RestError, of kind `not_the_api` where the service does not take what the user said that it is
	 */
	async inDialect<Result>(request: Request, work: (api: Api) => Promise<Result>): Promise<Result> {
		for (let changes = 0; ; changes++) {
			const api = await this.known(request);
			try {
				return await work(api);
			} catch (error) {
				if (!(error instanceof RestError) || error.kind !== "contradiction") throw error;
				if (changes < CHANGES && (await this.contradicted(api, request, error))) continue;
				throw this.#recognition?.origin === "given" ? this.#notAsGiven(error) : error;
			}
		}
	}

	/** The body forms that may be tried, the one that is spoken first. */
	get forms(): readonly BodyForm[] {
		const { flavour, form } = this.#api.dialect;
		if (this.#options.form !== undefined || flavour.update.forms.length === 1) return [form];
		return [form, ...flavour.update.forms.filter((other) => other !== form)];
	}

	/** An update of that form was seen to arrive, and its success named its document in that way. */
	async confirmed(spoken: Api, echo: Echo): Promise<void> {
		// Found to be another meanwhile: what was seen says nothing about that one.
		if (spoken.dialect.flavour !== this.#api.dialect.flavour) return;
		this.#api = spoken;
		this.canary.confirm(echo);
		if (this.#recognition === undefined) return;
		this.#recognition = { ...this.#recognition, form: spoken.dialect.form };
		await this.#save();
	}

	/** An update arrived in that form, though it is not certain that it was that one: it is tried first from here on. */
	prefer(spoken: Api): void {
		if (spoken.dialect.flavour === this.#api.dialect.flavour) this.#api = spoken;
	}

	/** A success does not name its document as those do that were seen to be true: another server answers. */
	async answeredOtherwise(spoken: Api, request: Request): Promise<void> {
		if (spoken !== this.#api || this.canary.echo === undefined) return;
		this.canary.revoke();
		await this.contradicted(spoken, request);
	}

	/** What was written can't be read back. Says so once; `all` believes updates from here on. */
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

	/** Notes the first of many alike. `what` says which are alike. */
	noteOnce(what: string, text: string): void {
		if (this.#noted.has(what)) return;
		this.#noted.add(what);
		this.note(text);
	}

	/** A text from the service or from a manifest, safe to print. */
	show(text: string): string {
		return show(this.#options.redact === undefined ? text : this.#options.redact(text));
	}

	#notAsGiven(error: RestError): RestError {
		const text = `${error.message}: the service is not of the flavour ${this.#api.dialect.flavour.name}, which was ${this.#recognition?.how}`;
		return new RestError(text, { kind: "not_the_api", code: "OTHER_FLAVOUR", status: error.status, cause: error });
	}

	async #recall(): Promise<void> {
		const knowledge = await this.#options.memory.load();
		if (knowledge === undefined) return;
		const given = this.#recognition;
		if (given === undefined) {
			// An old entry is good enough to read by, and found out anew before anything is written.
			const age = this.#options.now() - knowledge.foundAt;
			const fresh = age >= 0 && age < BELIEVED_FOR;
			this.#speak(knowledge, "remembered");
			if (!fresh) this.#recognition = undefined;
		}
		const same = this.#api.dialect.flavour === knowledge.flavour && this.#api.dialect.form === knowledge.form;
		if (same && knowledge.proven !== undefined && this.#recognition !== undefined)
			this.canary.remembered(knowledge.proven);
	}

	async #find(request: Request): Promise<Recognition> {
		await this.remember();
		const known = await this.#options.memory.load();
		this.#asked += 1;
		const { flavour, how } = await detectFlavour(this.#options.api, request, this.#asked < PATIENCE);
		this.#asked = 0;
		const { flavour: spoken } = this.#api.dialect;
		const found = { flavour, how, foundAt: this.#options.now(), origin: "found" } as const;
		if (this.#recognition?.origin === "given") return { ...found, form: flavour.update.forms[0], proven: undefined };
		if (this.#recognition !== undefined && flavour === spoken) {
			this.#recognition = { ...this.#recognition, ...found };
		} else {
			if (this.#recognition !== undefined) {
				this.note(`The service now answers as ${flavour.servers}, no longer as ${spoken.servers}.`);
			}
			// The form that arrived then is tried first. That it arrives now is to be seen anew.
			const form = known?.flavour === flavour && known.proven !== undefined ? { form: known.form } : {};
			this.#speak({ ...found, ...form }, "found");
			this.canary.revoke();
		}
		await this.#save();
		return { ...found, form: this.#api.dialect.form, proven: this.canary.echo };
	}

	#speak(
		{ flavour, how, foundAt, form }: Pick<RememberedService, "flavour" | "how" | "foundAt"> & { form?: BodyForm },
		origin: Recognition["origin"],
	): void {
		const [preferred] = flavour.update.forms;
		let wanted = this.#options.form ?? form ?? preferred;
		if (!flavour.update.forms.includes(wanted)) {
			this.note(`--body ${wanted} is ignored: ${flavour.servers} takes ${preferred} alone.`);
			wanted = preferred;
		}
		this.#api = this.#options.api.as({ flavour, form: wanted });
		this.#recognition = { flavour, form: wanted, proven: undefined, how, foundAt, origin };
	}

	/** What the user gave is not remembered: it holds for this command alone. */
	async #save(): Promise<void> {
		const recognition = this.recognition;
		if (recognition === undefined || recognition.origin === "given") return;
		await this.#options.memory.save(recognition);
	}
}
