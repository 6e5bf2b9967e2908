import type { Flavour } from "../../rest/flavours.ts";
import type { BodyForm } from "../../body-forms.ts";
import type { Api } from "../../rest/types.ts";
import type { Clock } from "../types.ts";
import type { Knowledge, KnowledgeMemory } from "./knowledge.ts";

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
	/** masks the key, which a server may give back */
	readonly redact?: ((text: string) => string) | undefined;
};

export type Recognition = Knowledge & { readonly origin: "found" | "remembered" | "given" };
