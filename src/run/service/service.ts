import { RestError } from "../../rest/errors.ts";
import type { Flavour } from "../../rest/flavours.ts";
import type { Api, BodyForm } from "../../rest/types.ts";
import type { Request } from "../pages.ts";
import type { Clock } from "../types.ts";
import { findOut } from "./find-out.ts";
import { BELIEVED_FOR, type Knowledge, type KnowledgeMemory } from "./knowledge.ts";
import { Lookup } from "./lookup.ts";
import { Proof } from "./proof.ts";
import { Turns } from "./turns.ts";

export type ServiceOptions = {
	/** in the dialect to speak until another is found out */
	readonly api: Api;
	readonly memory: KnowledgeMemory;
	readonly clock: Clock;
	/** wall clock, in epoch milliseconds */
	readonly now: () => number;
	/** what the user said, and where: not found out, not doubted */
	readonly flavour?: { readonly value: Flavour; readonly origin: string } | undefined;
	/** the form the user wants; RAGFlow servers get none but their own */
	readonly form?: BodyForm | undefined;
	/** takes a sentence that the user must see */
	readonly note: (text: string) => void;
};

export type Recognition = Knowledge & { readonly origin: "found" | "remembered" | "given" };

/** Times that a piece of work is begun anew because the service turned out to be another than it was taken for. */
const CHANGES = 3;
/** How long a flavour that was just found out is not doubted again, in milliseconds: rows that fail alike ask once. */
const CONFIRMED_FOR = 60_000;

/** What a command knows of the service it talks to: its flavour, and whether updates arrive. Learns as it goes. */
export class Service {
	readonly clock: Clock;
	readonly lookup = new Lookup();
	readonly proof = new Proof();
	readonly #options: ServiceOptions;
	readonly #turns = new Turns();
	#api: Api;
	#recognition: Recognition | undefined;
	#finding: Promise<Recognition> | undefined;
	#confirmedAt = Number.NEGATIVE_INFINITY;
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
		return this.#recognition && { ...this.#recognition, proven: this.proof.verified };
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
	 * @returns whether there is something new to try: another dialect by now, or the same one to be proven again
	 */
	async contradicted(spoken: Api, request: Request): Promise<boolean> {
		if (spoken !== this.#api) return true;
		if (this.#recognition?.origin === "given") return false;
		if (this.clock.now() - this.#confirmedAt < CONFIRMED_FOR) return false;
		const wasProven = this.proof.verified;
		await this.findOut(request);
		if (spoken !== this.#api) return true;
		this.#confirmedAt = this.clock.now();
		// The same flavour, which takes this form no longer: the forms are tried anew.
		if (!wasProven || this.forms.length === 1) return false;
		this.proof.doubt();
		return true;
	}

	/**
	 * Does a piece of work in the dialect that is known, and anew in another where an answer shows that it is spoken.
	 *
	 * @throws RestError, of kind `not_the_api` where the service does not take what the user said that it is
	 */
	async speaking<Result>(request: Request, work: (api: Api) => Promise<Result>): Promise<Result> {
		for (let changes = 0; ; changes++) {
			const api = await this.known(request);
			try {
				return await work(api);
			} catch (error) {
				if (!(error instanceof RestError) || error.kind !== "contradiction") throw error;
				if (changes < CHANGES && (await this.contradicted(api, request))) continue;
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

	/** Runs one after another what must not happen side by side: the tries of a form that is not proven. */
	alone<Result>(work: () => Promise<Result>): Promise<Result> {
		return this.#turns.take(work);
	}

	/** An update of that form was seen to arrive. */
	async proved(spoken: Api): Promise<void> {
		// Found to be another meanwhile: what was seen says nothing about that one.
		if (spoken.dialect.flavour !== this.#api.dialect.flavour) return;
		this.#api = spoken;
		this.proof.updated();
		if (this.#recognition === undefined) return;
		this.#recognition = { ...this.#recognition, form: spoken.dialect.form };
		await this.#save();
	}

	/** What is written can't be read back, so updates are believed from here on. Says so once. */
	unreadable(spoken: Api, why: string): void {
		if (this.proof.isUnreadable || spoken.dialect.flavour !== this.#api.dialect.flavour) return;
		this.#api = spoken;
		this.proof.unreadable();
		this.#options.note(
			`warning: ${why}, so nothing that is written can be read back; the service's word is taken for it`,
		);
	}

	note(text: string): void {
		this.#options.note(text);
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
			const fresh = this.#options.now() - knowledge.foundAt < BELIEVED_FOR;
			this.#speak(knowledge, "remembered");
			if (!fresh) this.#recognition = undefined;
		}
		const same = this.#api.dialect.flavour === knowledge.flavour && this.#api.dialect.form === knowledge.form;
		if (same && knowledge.proven && this.#recognition !== undefined) this.proof.updated();
	}

	async #find(request: Request): Promise<Recognition> {
		await this.remember();
		const known = await this.#options.memory.load();
		const { flavour, how } = await findOut(this.#options.api, request);
		const { flavour: spoken } = this.#api.dialect;
		const foundAt = this.#options.now();
		if (this.#recognition?.origin === "given") {
			return { flavour, how, foundAt, form: flavour.update.forms[0], proven: false, origin: "found" };
		}
		if (this.#recognition !== undefined && flavour === spoken) {
			this.#recognition = { ...this.#recognition, how, foundAt, origin: "found" };
		} else {
			if (this.#recognition !== undefined) {
				this.note(`The service answers as ${flavour.servers} now, no longer as ${spoken.servers}: going on with that.`);
			}
			// The form that arrived then is tried first. That it arrives now is to be seen anew.
			const form = known?.flavour === flavour && known.proven ? { form: known.form } : {};
			this.#speak({ flavour, how, foundAt, ...form }, "found");
			this.proof.doubt();
		}
		await this.#save();
		const { form } = this.#api.dialect;
		return { flavour, how, foundAt, form, proven: this.proof.verified, origin: "found" };
	}

	#speak(
		{ flavour, how, foundAt, form }: Pick<Knowledge, "flavour" | "how" | "foundAt"> & { form?: BodyForm },
		origin: Recognition["origin"],
	): void {
		const [preferred] = flavour.update.forms;
		let wanted = this.#options.form ?? form ?? preferred;
		if (!flavour.update.forms.includes(wanted)) {
			this.note(`--body ${wanted} is left aside: ${flavour.servers} takes ${preferred} alone.`);
			wanted = preferred;
		}
		this.#api = this.#options.api.as({ flavour, form: wanted });
		this.#recognition = { flavour, form: wanted, proven: false, how, foundAt, origin };
	}

	/** What the user gave is not remembered: it holds for this command alone. */
	async #save(): Promise<void> {
		const recognition = this.recognition;
		if (recognition === undefined || recognition.origin === "given") return;
		await this.#options.memory.save(recognition);
	}
}
