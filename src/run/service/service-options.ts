import type { BodyForm } from "../../body-forms.ts";
import type { Flavour } from "../../rest/flavours.ts";
import type { Api } from "../../rest/types.ts";
import type { Clock } from "../types.ts";
import type { ServiceMemory } from "./service-memory.ts";

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
