import * as v from "valibot";
import { parseAs } from "../../json/parse-as.ts";
import { type Flavour, type Normalise, flavourNamed, flavours } from "../../rest/flavours.ts";
import type { BodyForm } from "../../body-forms.ts";
import type { FlavourRequest } from "../../rest/errors.ts";
import { fileOfService, type ServiceFile } from "../storage/quick-files.ts";
import type { Api } from "../../rest/types.ts";
import type { Clock } from "../types.ts";
import type { Unrouted } from "./detect-flavour.ts";

/** The knowledge of commands about the service at one address. */
export type RememberedService = {
	readonly flavour: Flavour;
	readonly form: BodyForm;
	/** how the success of an update that was read back named its document; undefined where none was read back */
	readonly proven: v.InferOutput<typeof ECHO> | undefined;
	/** how the flavour was recognised, in words */
	readonly how: string;
	/** when, in epoch milliseconds */
	readonly foundAt: number;
	/** what real requests were answered that other flavours send */
	readonly unrouted?: Unrouted;
};

/** The flavour in use, and whether it was detected now, remembered, or given by the user. */
export type Recognition = RememberedService & { readonly origin: "found" | "remembered" | "given" };

/** Stores one entry for each address. It never throws: after a failure the entry is missing. */
type ServiceMemory = {
	load(): Promise<RememberedService | undefined>;
	save(service: RememberedService): Promise<void>;
};

/** What the knowledge of a service begins with, and the ways out of it. */
export type ServiceOptions = {
	/** in the dialect to use until another is detected */
	readonly api: Api;
	/** undefined on a machine without a state folder */
	readonly memory: ServiceMemory | undefined;
	readonly clock: Clock;
	/** wall clock, in epoch milliseconds */
	readonly now: () => number;
	/** `--max-outage` in milliseconds, where it was given */
	readonly maxOutage?: number | undefined;
	/** the flavour that the user gave, and where: it is not detected */
	readonly flavour?: { readonly value: Flavour; readonly origin: string } | undefined;
	/** the form that the user gave; RAGFlow servers get only their own */
	readonly form?: BodyForm | undefined;
	/** takes a sentence that the user must see */
	readonly note: (text: string) => void;
	/** masks the key, which a server may give back */
	readonly redact?: ((text: string) => string) | undefined;
};

/** Milliseconds for which an entry counts without a new detection: a server may be upgraded. */
export const VALID_FOR = 24 * 60 * 60 * 1000;

/** Requests that show which flavour a service has. */
const ANSWERED = ["PUT", "PATCH", "path", "body"] as const satisfies readonly FlavourRequest[];

const ECHO = v.picklist(["document_id", "id", "id_and_metadata", "nothing", "other"]);

/**
 * Raised when the meaning of a member changes: an entry of another layout is ignored. Entries of layout 2 took RAGFlow
 * from v0.25.2 on for the documented API, as it accepts PUT, too.
 */
const LAYOUT = 3;

const ENTRY = v.object({
	schema: v.literal(LAYOUT),
	base_url: v.string(),
	flavour: v.pipe(
		v.string(),
		v.transform(flavourNamed),
		v.custom<Flavour>((flavour) => flavour !== undefined),
	),
	form: v.string(),
	proven: v.nullable(ECHO),
	how: v.string(),
	found_at: v.pipe(v.string(), v.transform(Date.parse), v.number()),
	/** answers by the request that was answered so */
	unrouted: v.optional(v.object(v.entriesFromList(ANSWERED, v.optional(v.string()))), {}),
});

/** The text of an entry. It names its address, so that a reader of the file knows what it is about. */
function entryText(baseUrl: string, service: RememberedService): string {
	const { flavour, form, proven = null, how, foundAt, unrouted = new Map<FlavourRequest, string>() } = service;
	const answers = unrouted.size === 0 ? {} : { unrouted: Object.fromEntries(unrouted) };
	const found_at = new Date(foundAt).toISOString();
	return `${JSON.stringify({ schema: LAYOUT, base_url: baseUrl, flavour: flavour.name, form, proven, how, found_at, ...answers })}\n`;
}

/** Reads an entry; undefined where it is damaged, of another address, or of a flavour that this release does not know. */
function readEntry(text: string, baseUrl: string): RememberedService | undefined {
	const entry = parseAs(ENTRY, text);
	if (entry?.base_url !== baseUrl) return undefined;
	const { flavour, proven, how, found_at: foundAt } = entry;
	const form = flavour.update.forms.find((each) => each === entry.form);
	if (form === undefined) return undefined;
	const unrouted: Unrouted = new Map(
		ANSWERED.flatMap((request) => {
			const answer = entry.unrouted[request];
			return answer === undefined ? [] : [[request, answer]];
		}),
	);
	return { flavour, form, proven: proven ?? undefined, how, foundAt, unrouted };
}

/** What can't be read or written is forgotten: the next run asks the service again, which costs three requests. */
export function fileMemory(stateDir: string, baseUrl: string): ServiceMemory {
	const file = fileOfService(stateDir, baseUrl, "json");
	return {
		load: async () => readEntry(file.read(), baseUrl),
		save: (service) => file.write(entryText(baseUrl, service)),
	};
}

/**
 * How the service at an address normalises metadata, for commands that only compare recorded runs: no request is made. Where
 * no earlier command learned the flavour, the rules of all flavours apply one after another. A value that one of them makes
 * of another then counts as no change.
 */
export async function rememberedNormalise(stateDir: string | undefined, baseUrl: string): Promise<Normalise> {
	const service = stateDir === undefined ? undefined : await fileMemory(stateDir, baseUrl).load();
	if (service !== undefined) return service.flavour.normalise;
	return (sent) => flavours.reduce((kept, { normalise }) => normalise(kept), sent);
}

const DATASETS = v.object({
	base_url: v.string(),
	datasets: v.array(v.object({ id: v.string(), name: v.string() })),
});
export type NamedDataset = Readonly<v.InferOutput<typeof DATASETS>["datasets"][number]>;

/** Names kept at most: what a shell offers must be read in a moment. */
const MOST_NAMES = 10_000;

/**
 * The datasets of one address, as its last whole list showed them. Shell completion offers them and asks no service.
 * They are offered, never used as facts.
 */
export class RememberedDatasets {
	readonly #file: ServiceFile;
	readonly #baseUrl: string;

	constructor(stateDir: string, baseUrl: string) {
		this.#file = fileOfService(stateDir, baseUrl, "datasets.json");
		this.#baseUrl = baseUrl;
	}

	/** Nothing where the file is not there, or is not what `save` writes. */
	async load(): Promise<readonly NamedDataset[]> {
		const kept = parseAs(DATASETS, this.#file.read());
		return kept?.base_url === this.#baseUrl ? kept.datasets : [];
	}

	async save(datasets: readonly NamedDataset[]): Promise<void> {
		const kept = datasets.slice(0, MOST_NAMES).map(({ id, name }) => ({ id, name }));
		await this.#file.write(`${JSON.stringify({ base_url: this.#baseUrl, datasets: kept })}\n`);
	}
}
