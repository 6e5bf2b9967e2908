import { parseJson } from "../../json/parse-json.ts";
import { isJsonObject } from "../../json/values.ts";
import { type Flavour, type Normalise, flavourNamed, flavours } from "../../rest/flavours.ts";
import type { BodyForm } from "../../body-forms.ts";
import type { FlavourRequest } from "../../rest/errors.ts";
import type { Echo } from "../../rest/types.ts";
import { createHash } from "node:crypto";
import { join } from "node:path";
import { writeWhole } from "../../write-whole.ts";
import { makeFolder } from "../storage/folders.ts";
import { readTextIfThere } from "../storage/quick-files.ts";
import type { Unrouted } from "./detect-flavour.ts";

/** The knowledge of commands about the service at one address. */
export type RememberedService = {
	readonly flavour: Flavour;
	readonly form: BodyForm;
	/** how the success of an update that was read back named its document; undefined where none was read back */
	readonly proven: Echo | undefined;
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
export type ServiceMemory = {
	load(): Promise<RememberedService | undefined>;
	save(service: RememberedService): Promise<void>;
};

/** Milliseconds for which an entry counts without a new detection: a server may be upgraded. */
export const VALID_FOR = 24 * 60 * 60 * 1000;

const requests: readonly FlavourRequest[] = ["PUT", "PATCH", "path", "body"];

const echoes: readonly Echo[] = ["document_id", "id", "id_and_metadata", "nothing", "other"];

/**
 * Raised when the meaning of a member changes: an entry of another layout is ignored. Entries of layout 2 took RAGFlow
 * from v0.25.2 on for the documented API, as it accepts PUT, too.
 */
const LAYOUT = 3;

/** The text of an entry. It names its address, so that a reader of the file knows what it is about. */
export function entryText(baseUrl: string, service: RememberedService): string {
	const { flavour, form, proven = null, how, foundAt, unrouted = new Map<FlavourRequest, string>() } = service;
	const answers = unrouted.size === 0 ? {} : { unrouted: Object.fromEntries(unrouted) };
	const found_at = new Date(foundAt).toISOString();
	return `${JSON.stringify({ schema: LAYOUT, base_url: baseUrl, flavour: flavour.name, form, proven, how, found_at, ...answers })}\n`;
}

/** Reads an entry; undefined where it is damaged, of another address, or of a flavour that this release does not know. */
export function readEntry(text: string, baseUrl: string): RememberedService | undefined {
	const entry = jsonOf(text);
	if (!isJsonObject(entry) || entry["schema"] !== LAYOUT || entry["base_url"] !== baseUrl) return undefined;
	const { flavour: name, form, proven, how, found_at, unrouted } = entry as { readonly [key: string]: unknown };
	const flavour = typeof name === "string" ? flavourNamed(name) : undefined;
	const known = flavour?.update.forms.find((each) => each === form);
	const foundAt = typeof found_at === "string" ? Date.parse(found_at) : Number.NaN;
	const echo = echoes.find((each) => each === proven);
	if (flavour === undefined || known === undefined || typeof how !== "string") return undefined;
	if (Number.isNaN(foundAt) || (proven !== null && echo === undefined)) return undefined;
	return { flavour, form: known, proven: echo, how, foundAt, unrouted: answersOf(unrouted) };
}

function answersOf(members: unknown): Unrouted {
	const answers = isJsonObject(members) ? members : {};
	return new Map(
		requests.flatMap((request) => {
			const answer = answers[request];
			return typeof answer === "string" ? [[request, answer]] : [];
		}),
	);
}

/** The value of a text that may be no JSON. */
function jsonOf(text: string): unknown {
	try {
		return parseJson(text);
	} catch {
		return undefined;
	}
}

/** A small file below the state folder for each address, so that two runs never write over each other's. It never throws. */
function fileOf(stateDir: string, baseUrl: string, ending: string) {
	const folder = join(stateDir, "services");
	const path = join(folder, `${createHash("sha256").update(baseUrl).digest("hex").slice(0, 16)}.${ending}`);
	return {
		read(): string {
			try {
				return readTextIfThere(path) ?? "";
			} catch {
				return "";
			}
		},
		async write(text: string): Promise<void> {
			try {
				// Node's own recursive mkdir never ends where an existing folder refuses with "no such file", as /proc does.
				makeFolder(folder);
				await writeWhole(path, text, { isSynced: false });
			} catch {
				// The next command asks the service again, and the shell offers no names.
			}
		},
	};
}

/** What can't be read or written is forgotten: the next run asks the service again, which costs three requests. */
export function fileMemory(stateDir: string, baseUrl: string): ServiceMemory {
	const file = fileOf(stateDir, baseUrl, "json");
	return {
		load: async () => readEntry(file.read(), baseUrl),
		save: (service) => file.write(entryText(baseUrl, service)),
	};
}

/** For a machine without a state folder. */
export const noMemory: ServiceMemory = { load: async () => undefined, save: async () => undefined };

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

export type NamedDataset = { readonly id: string; readonly name: string };

/** Names kept at most: what a shell offers must be read in a moment. */
const MOST_NAMES = 10_000;

/**
 * The datasets of one address, as its last whole list showed them. Shell completion offers them and asks no service.
 * They are offered, never used as facts.
 */
export class RememberedDatasets {
	readonly #file: ReturnType<typeof fileOf>;
	readonly #baseUrl: string;

	constructor(stateDir: string, baseUrl: string) {
		this.#file = fileOf(stateDir, baseUrl, "datasets.json");
		this.#baseUrl = baseUrl;
	}

	/** Nothing where the file is not there, or is not what `save` writes. */
	async load(): Promise<readonly NamedDataset[]> {
		const value = jsonOf(this.#file.read());
		if (!isJsonObject(value) || value["base_url"] !== this.#baseUrl || !Array.isArray(value["datasets"])) return [];
		const datasets: readonly unknown[] = value["datasets"];
		return datasets.flatMap((one) =>
			isJsonObject(one) && typeof one["id"] === "string" && typeof one["name"] === "string"
				? [{ id: one["id"], name: one["name"] }]
				: [],
		);
	}

	async save(datasets: readonly NamedDataset[]): Promise<void> {
		const kept = datasets.slice(0, MOST_NAMES).map(({ id, name }) => ({ id, name }));
		await this.#file.write(`${JSON.stringify({ base_url: this.#baseUrl, datasets: kept })}\n`);
	}
}
