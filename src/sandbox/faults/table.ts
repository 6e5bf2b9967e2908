import type { Kind } from "./kind.ts";
import { bodyKinds } from "./kinds/body.ts";
import { connectionKinds } from "./kinds/connection.ts";
import { cutKinds } from "./kinds/cut.ts";
import { envelopeKinds } from "./kinds/envelope.ts";
import { framingKinds } from "./kinds/framing.ts";
import { headerKinds } from "./kinds/headers.ts";
import { listKinds } from "./kinds/lists.ts";
import { paceKinds } from "./kinds/pace.ts";
import { statusKinds } from "./kinds/status.ts";
import { storedKinds } from "./kinds/stored.ts";

/** Every fault by its name, family after family. */
export const kinds: ReadonlyMap<string, Kind> = new Map<string, Kind>(
	[
		connectionKinds,
		cutKinds,
		paceKinds,
		framingKinds,
		statusKinds,
		bodyKinds,
		headerKinds,
		envelopeKinds,
		listKinds,
		storedKinds,
	].flatMap((family) => Object.entries<Kind>(family)),
);

export function kindNamed(name: string): Kind | undefined {
	return kinds.get(name);
}

const form = `A plan is JSON, in a file or on the command line:

  {"seed":1,"faults":[{"fault":NAME,"when":"before" or "after","on":{...},PARAMETERS}]}

when   before: the request is not applied, and its answer is as if it were; after: it is applied, and its answer spoiled
on     all that is given must hold: method, path (a regular expression), document (an id), nth (a number or several),
       every, from, to (counted from 1 among the requests that fit), probability (0 to 1, drawn by the seed), times (at most)

Faults: what each does, its variants with the default first, and its parameters with their defaults.

`;

/** The form of a plan and the table of faults as text: a line what each does, a line what it takes. */
export function faultTable(): string {
	const width = Math.max(...[...kinds.keys()].map((name) => name.length)) + 2;
	const lines = [...kinds].flatMap(([name, { about, takes, when }]) => [
		`${name.padEnd(width)}${about}`,
		`${" ".repeat(width)}${[when.join(", "), takes].filter((part) => part !== "").join("; ")}`,
	]);
	return `${form}${lines.join("\n")}\n`;
}
