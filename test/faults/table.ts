import process from "node:process";
import { describe, it } from "vitest";
import type { Flavour } from "../../src/sandbox/flavours/index.ts";
import { hasOpenssl } from "../support/certificate.ts";
import { KINDS, type KindId } from "./ids.ts";

export const FLAVOURS: readonly Flavour[] = [
	"documented",
	"ragflow-0.18",
	"ragflow-0.21",
	"ragflow-0.23",
	"ragflow-0.24",
	"ragflow-0.25",
	"ragflow-0.26",
	"ragflow-0.27",
	"ragflow-1.0",
];

/** How one kind of fault is shown. */
export type FaultTest = {
	readonly id: KindId;
	/** what a user would lose */
	readonly kind: string;
	/** which sandboxes it is shown against: all, the documented one, or none of them (a server of its own, or no server) */
	readonly flavours: "all" | "documented" | "none";
	/** whether it is among those that `npm test` runs; there, against the documented flavour alone */
	readonly quick?: boolean;
	readonly needs?: "openssl";
	readonly run: (flavour: Flavour) => Promise<void>;
};

/** `npm run test:faults` (all) runs all of them, `npm test` the quick ones; the name of a flavour: all, against it alone. */
const wanted = process.env["RAGTAG_FAULTS"] ?? "quick";
const isAll = wanted !== "quick";

/** Generous: a slow machine is no failure. */
const TIMEOUT = 120_000;

/** Declares the tests of one section, a test for each flavour that a kind is shown against. */
export function declare(section: string, tests: readonly FaultTest[]): void {
	const names = new Map<string, string>(KINDS);
	describe(section, () => {
		for (const { id, kind, flavours, quick = false, needs, run } of tests) {
			if (!isAll && !quick) continue;
			const every = flavours === "all" && isAll ? FLAVOURS : (["documented"] as const);
			const on = every.filter((flavour) => wanted === "all" || !isAll || flavour === wanted);
			const missing = needs === "openssl" && !hasOpenssl ? " (skipped: there is no openssl here)" : "";
			for (const flavour of on) {
				const where = flavours === "none" ? "" : ` [${flavour}]`;
				it.skipIf(missing !== "")(`${id} ${names.get(id)}: ${kind}${where}${missing}`, { timeout: TIMEOUT }, () =>
					run(flavour),
				);
			}
		}
	});
}
