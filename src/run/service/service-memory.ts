import { isJsonObject, parseJson } from "../../json/values.ts";
import { type Flavour, type Normalise, flavourNamed, flavours } from "../../rest/flavours.ts";
import type { BodyForm } from "../../body-forms.ts";
import type { Echo } from "../../rest/types.ts";
import { createHash, randomBytes } from "node:crypto";
import { readFile, writeFile, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { makeFolder } from "../storage/folders.ts";

/** What was learned of the service at one address. */
export type RememberedService = {
	readonly flavour: Flavour;
	readonly form: BodyForm;
	/** how the success of an update that was seen to arrive named its document; undefined where none was seen */
	readonly proven: Echo | undefined;
	/** how the flavour was recognised, in words */
	readonly how: string;
	/** when, in epoch milliseconds */
	readonly foundAt: number;
};

/** Remembers what was learned, one entry an address. A memory that fails is one that forgets: it never throws. */
export type ServiceMemory = {
	load(): Promise<RememberedService | undefined>;
	save(knowledge: RememberedService): Promise<void>;
};

/** How long it is believed without being found out again, in milliseconds: a server is upgraded once in a while. */
export const BELIEVED_FOR = 24 * 60 * 60 * 1000;

const echoes: readonly Echo[] = ["document_id", "id", "nothing", "other"];

/**
 * Raised when the meaning of a member changes: an entry of another layout is forgotten. Entries of layout 2 took RAGFlow
 * from v0.25.2 on for the documented API, as it accepts PUT, too.
 */
const LAYOUT = 3;

/** The text of an entry. It names its address, so that a person can tell what the file is about. */
export function entryText(baseUrl: string, { flavour, form, proven, how, foundAt }: RememberedService): string {
	const found_at = new Date(foundAt).toISOString();
	return `${JSON.stringify({ schema: LAYOUT, base_url: baseUrl, flavour: flavour.name, form, proven: proven ?? null, how, found_at })}\n`;
}

/** Reads an entry; undefined where it is damaged, of another address, or of a flavour that this release has not. */
export function readEntry(text: string, baseUrl: string): RememberedService | undefined {
	const entry = parsed(text);
	if (!isJsonObject(entry) || entry["schema"] !== LAYOUT || entry["base_url"] !== baseUrl) return undefined;
	const { flavour: name, form, proven, how, found_at } = entry as { readonly [key: string]: unknown };
	const flavour = typeof name === "string" ? flavourNamed(name) : undefined;
	const known = flavour?.update.forms.find((each) => each === form);
	const foundAt = typeof found_at === "string" ? Date.parse(found_at) : Number.NaN;
	const echo = echoes.find((each) => each === proven);
	if (flavour === undefined || known === undefined || typeof how !== "string") return undefined;
	if (Number.isNaN(foundAt) || (proven !== null && echo === undefined)) return undefined;
	return { flavour, form: known, proven: echo, how, foundAt };
}

function parsed(text: string): unknown {
	try {
		return parseJson(text);
	} catch {
		return undefined;
	}
}

/**
 * Remembers below a folder, in one small file for each address, so that two runs never write over each other's.
 *
 * What can't be read or written is forgotten: the next run asks the service again, which costs three requests.
 */
export function fileMemory(stateDir: string, baseUrl: string): ServiceMemory {
	const folder = join(stateDir, "services");
	const path = join(folder, `${createHash("sha256").update(baseUrl).digest("hex").slice(0, 16)}.json`);
	return {
		load: async () => {
			try {
				return readEntry(await readFile(path, "utf8"), baseUrl);
			} catch {
				return undefined;
			}
		},
		save: async (knowledge) => {
			const temporary = `${path}.${randomBytes(6).toString("hex")}`;
			try {
				// Node's own recursive way tries for ever where a folder that is there refuses with "no such file", as /proc does.
				await makeFolder(folder);
				await writeFile(temporary, entryText(baseUrl, knowledge), { mode: 0o600, flag: "wx" });
				await rename(temporary, path);
			} catch {
				await rm(temporary, { force: true }).catch(() => undefined);
			}
		},
	};
}

/** For a machine without a place to keep anything. */
export const noMemory: ServiceMemory = { load: async () => undefined, save: async () => undefined };

/**
 * What the service at an address keeps of what it is sent, for those who only look back: no request is made. Where no
 * earlier command learned which flavour it is, all rules that are known are taken together: a value that one of them
 * makes of another is then nobody's change.
 */
export async function rememberedNormalise(stateDir: string | undefined, baseUrl: string): Promise<Normalise> {
	const knowledge = stateDir === undefined ? undefined : await fileMemory(stateDir, baseUrl).load();
	if (knowledge !== undefined) return knowledge.flavour.normalise;
	return (sent) => flavours.reduce((kept, { normalise }) => normalise(kept), sent);
}

export type Recognition = RememberedService & { readonly origin: "found" | "remembered" | "given" };
