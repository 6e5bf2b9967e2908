import type { Api } from "../../rest/types.ts";
import type { Request } from "../types.ts";

/** What reading documents needs of the service: the API in its flavour, and words for the user. `run/service` implements it. */
export type ServiceVoice = {
	/** the service in the flavour that is known, which is detected first where it is not */
	known(request: Request): Promise<Api>;
	/** foreign text, made safe to print */
	show(text: string): string;
	note(text: string): void;
	/** a note that is given once for each `what` */
	noteOnce(what: string, text: string): void;
};
