import type { FaultKind } from "./fault.ts";
import { bodyKinds } from "./kinds/body.ts";
import { connectionKinds } from "./kinds/connection.ts";
import { envelopeKinds } from "./kinds/envelope.ts";
import { cutKinds, framingKinds } from "./kinds/framing.ts";
import { headerKinds } from "./kinds/headers.ts";
import { listKinds } from "./kinds/lists.ts";
import { paceKinds } from "./kinds/pace.ts";
import { statusKinds } from "./kinds/status.ts";
import { storedKinds } from "./kinds/stored.ts";

/** Every kind of fault by its name, family after family. */
export const faultKinds: ReadonlyMap<string, FaultKind> = new Map<string, FaultKind>(
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
	].flatMap((family) => Object.entries<FaultKind>(family)),
);

const form = `A plan is JSON, in a file or on the command line:

  {"seed":1,"faults":[{"fault":NAME,"when":"before" or "after","on":{...},PARAMETERS}]}

when   after: the request is applied, and its answer is altered; before: it is not applied, but answered as if it were
on     all members must hold: method, path (a regular expression), document (an id), nth (a number or a list of them),
       every, from, to (counted from 1 among the requests that fit), probability (0 to 1, drawn by the seed), times (at most)

Faults: what each does, then its variants with the default first, and its parameters with their defaults.

`;

/** The form of a plan, and the kinds of faults in two lines each: what it does, and what it takes. */
export function faultTable(): string {
	const width = Math.max(...[...faultKinds.keys()].map((name) => name.length)) + 2;
	const lines = [...faultKinds].flatMap(([name, { summary, parameters, when }]) => [
		`${name.padEnd(width)}${summary}`,
		`${" ".repeat(width)}${[when.join(", "), parameters].filter((part) => part !== "").join("; ")}`,
	]);
	return `${form}${lines.join("\n")}\n`;
}
