import { documented, type Flavour, flavours } from "../rest/flavours.ts";
import type { Api, BodyForm } from "../rest/types.ts";
import type { Request } from "./pages.ts";

/** Which flavour a service speaks, and how that is known. */
export type Recognition = {
	readonly flavour: Flavour;
	readonly form: BodyForm;
	/** how it was recognised, as a part of a sentence */
	readonly how: string;
	/** epoch milliseconds */
	readonly foundAt: number;
	readonly origin: "found" | "remembered" | "given";
	/** whether a write in this form was read back */
	readonly proven: boolean;
};

/** Finds out which flavour a service speaks, by requests that change nothing. */
export type Recogniser = {
	/** what is known now; undefined before anything is */
	readonly recognition: Recognition | undefined;
	/** asks anew, whatever is known */
	findOut(request: Request): Promise<unknown>;
};

/** A recogniser that remembers nothing between two commands. */
export function createRecogniser(api: Api): Recogniser {
	let recognition: Recognition | undefined;
	return {
		get recognition() {
			return recognition;
		},
		findOut: async (request) => {
			// In turn: each must get through by itself, and PATCH first is the one that most servers refuse.
			const patch = await request(() => api.probeUpdate("PATCH"));
			const put = await request(() => api.probeUpdate("PUT"));
			const flavour = flavours.find((each) => each.recognise({ patch, put }) !== undefined) ?? documented;
			recognition = {
				flavour,
				form: flavour.update.forms[0],
				how: flavour.recognise({ patch, put }) ?? "no flavour's signs were seen, so it is taken at its documentation",
				foundAt: Date.now(),
				origin: "found",
				proven: false,
			};
		},
	};
}
