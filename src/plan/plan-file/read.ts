import { createHash } from "node:crypto";
import * as v from "valibot";
import { JsonFault, type JsonRules } from "../../json/lexer.ts";
import { parseAs } from "../../json/parse-as.ts";
import { jsonObjectOf } from "../../json/parse-json.ts";
import { parseMembers } from "../../json/parser.ts";
import { DEEPEST_METADATA } from "../../json/values.ts";
import { footerLine } from "./encode.ts";
import { CHANGE, FOOTER, HEADER, PLAN_VERSION, type PlanCounts, type PlanHeader, type PlannedChange } from "./lines.ts";

/** A fault of a plan: a predicate of "the plan", and its line if that is known. */
export class PlanFault extends Error {
	readonly line: number | undefined;

	constructor(text: string, line?: number) {
		super(text);
		this.line = line;
	}
}

/** A plan without its changes. */
export type CheckedPlan = { readonly header: PlanHeader; readonly counts: PlanCounts };

const LINE_END = "\n";

/** The beginning of a plan of any version, and of its last line. */
const BEGINNING = '{"ragtag_plan":';
const END = '{"changes":';

/** Reads a plan line by line. */
export type PlanCheck = ReturnType<typeof planCheck>;

/**
 * Reads a plan line by line, and checks at its end that it is unchanged and complete.
 *
 * @param actions the actions that are allowed: `docs apply` must not remove documents
 */
export function planCheck(actions: readonly PlannedChange["action"][]) {
	const hash = createHash("sha256");
	let lines = 0;
	let changes = 0;
	let header: PlanHeader | undefined;
	let counts: PlanCounts | undefined;

	const fault = (text: string): PlanFault => new PlanFault(text, lines);
	const cut = (): PlanFault => fault("was cut: it ends before its last line, which counts the others");
	const first = (text: string, isEnded: boolean): PlanHeader => {
		if (!text.startsWith(BEGINNING)) throw fault("was not written by ragtag docs plan");
		if (!isEnded) throw cut();
		const version = jsonObjectOf(text)?.["ragtag_plan"];
		if (typeof version === "number" && version > PLAN_VERSION) {
			throw fault(`is of format ${version}, which this version does not know`);
		}
		const read = parseAs(HEADER, text);
		if (read === undefined) throw fault("was edited: this is not how a plan begins");
		return read;
	};
	const last = (text: string): PlanCounts => {
		const read = parseAs(FOOTER, text);
		if (read === undefined) throw fault("was edited or cut: this is not how a plan ends");
		const { sha256: _, ...found } = read;
		if (found.changes !== changes) {
			throw fault(`was edited or cut: its last line counts ${found.changes} changes, and it has ${changes}`);
		}
		if (footerLine(found, hash) !== `${text}\n`) {
			throw new PlanFault("was edited: its checksum is not that of its lines");
		}
		return found;
	};
	return {
		/**
		 * @param bytes a line without its end
		 * @param isEnded whether the line has an end
		 * @returns the change that the line holds, if it is one
		 * @throws PlanFault
		 */
		line(bytes: Uint8Array, isEnded: boolean): PlannedChange | undefined {
			lines += 1;
			const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString("utf8");
			if (header === undefined) {
				header = first(text, isEnded);
				hash.update(bytes).update(LINE_END);
				return undefined;
			}
			if (counts !== undefined) throw fault("was edited: text follows its last line, which counts the others");
			if (!isEnded) throw cut();
			if (text.startsWith(END)) {
				counts = last(text);
				return undefined;
			}
			const change = readChange(text);
			if (change === undefined) throw fault("was edited or cut: this is not a line of a plan");
			if (header.sync === undefined && !actions.includes(change.action)) {
				throw fault(`has the action ${change.action}, which this command does not do`);
			}
			changes += 1;
			hash.update(bytes).update(LINE_END);
			return change;
		},
		/** @throws PlanFault where the plan has no last line */
		end(): CheckedPlan {
			if (header === undefined) throw new PlanFault("is empty");
			if (counts === undefined) throw cut();
			return { header, counts };
		},
	};
}

/** A line nests a value of a key that is changed: the line, `change`, the key, then what metadata has. */
const PLAN_JSON: JsonRules = { maxDepth: 3 + DEEPEST_METADATA, maxString: Number.POSITIVE_INFINITY, maxFaults: 0 };

/**
 * Undefined where this version would not have written it: a repeated key, or an unknown member.
 *
 * @param text a line without its end, here and below
 */
function readChange(text: string): PlannedChange | undefined {
	const read = v.safeParse(CHANGE, membersOf(text));
	return read.success ? read.output : undefined;
}

/** The members of a line. Objects are maps in the order of its text, which `JSON.parse` changes for keys like numbers. */
function membersOf(text: string): object | undefined {
	try {
		const members = Array.from(parseMembers(text, PLAN_JSON), ([name, { value, members: inner }]) => {
			return [name, inner ? new Map(Array.from(inner, ([key, each]) => [key, each.value])) : value] as const;
		});
		return Object.fromEntries(members);
	} catch (error) {
		if (error instanceof JsonFault) return undefined;
		throw error;
	}
}
