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

/** The table of faults as text: a line what each does, a line what it takes. */
export function faultTable(): string {
	const width = Math.max(...[...kinds.keys()].map((name) => name.length)) + 2;
	const lines = [...kinds].flatMap(([name, { about, takes, when }]) => [
		`${name.padEnd(width)}${about}`,
		`${" ".repeat(width)}${[when.join(", "), takes].filter((part) => part !== "").join("; ")}`,
	]);
	return `${lines.join("\n")}\n`;
}
