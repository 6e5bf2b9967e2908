import { isJsonObject, parseJson } from "../../json/values.ts";
import { type Flavour, flavourNamed } from "../../rest/flavours.ts";
import type { BodyForm } from "../../body-forms.ts";
import type { Echo } from "../../rest/types.ts";

/** What was learned of the service at one address. */
export type Knowledge = {
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
export type KnowledgeMemory = {
	load(): Promise<Knowledge | undefined>;
	save(knowledge: Knowledge): Promise<void>;
};

/** How long it is believed without being found out again, in milliseconds: a server is upgraded once in a while. */
export const BELIEVED_FOR = 24 * 60 * 60 * 1000;

const echoes: readonly Echo[] = ["document_id", "id", "nothing", "other"];

/**
 * Raised when the meaning of a member changes: an entry of another layout is forgotten. Entries of layout 2 took RAGFlow
 * from v0.25.2 on for the documented API, as it takes PUT, too.
 */
const LAYOUT = 3;

/** The text of an entry. It names its address, so that a person can tell what the file is about. */
export function knowledgeText(baseUrl: string, { flavour, form, proven, how, foundAt }: Knowledge): string {
	const found_at = new Date(foundAt).toISOString();
	return `${JSON.stringify({ schema: LAYOUT, base_url: baseUrl, flavour: flavour.name, form, proven: proven ?? null, how, found_at })}\n`;
}

/** Reads an entry; undefined where it is damaged, of another address, or of a flavour that this release has not. */
export function readKnowledge(text: string, baseUrl: string): Knowledge | undefined {
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
