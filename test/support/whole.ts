import process from "node:process";
import { type Flavour, flavours, isFlavour } from "../../src/sandbox/flavours/index.ts";

/** `RAGTAG_FAULTS=all` asks for every case of the long tables: half an hour more. Without it a part runs. */
export const isWhole = process.env["RAGTAG_FAULTS"] === "all";

/** Each differs from the one before it in what a command does. The tests of the sandbox and of the REST layer take all. */
const PART: readonly Flavour[] = [
	"documented",
	"ragflow-0.21",
	"ragflow-0.24",
	"ragflow-0.25",
	"ragflow-0.27",
	"ragflow-1.0",
];

/** The servers that whole commands are tried with. */
export const commandFlavours: readonly Flavour[] = isWhole ? flavours.filter(isFlavour) : PART;

/** Every so many cases of a long table, or all of them. */
export const partOf = <Case>(cases: readonly Case[], step: number): readonly Case[] =>
	isWhole ? cases : cases.filter((_, index) => index % step === 0);
