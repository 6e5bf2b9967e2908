import { createHash } from "node:crypto";
import { countsText, PLAN_VERSION } from "./encode.ts";
import { readChange, readFooter, readHeader } from "./decode.ts";
import { jsonObjectOf } from "../../json/parse-json.ts";
import type { PlanCounts, PlanHeader, PlannedChange } from "./planned.ts";

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

/** The beginning of a plan of any version. */
const BEGINNING = '{"ragtag_plan":';

/** Reads a plan line by line, and checks at its end that it is unchanged and complete. */
export class PlanCheck {
	readonly #hash = createHash("sha256");
	readonly #actions: readonly PlannedChange["action"][];
	#lines = 0;
	#changes = 0;
	#header: PlanHeader | undefined;
	#counts: PlanCounts | undefined;

	/** @param actions the actions that are allowed: `docs apply` must not remove documents */
	constructor(actions: readonly PlannedChange["action"][]) {
		this.#actions = actions;
	}

	/**
	 * @param bytes a line without its end
	 * @param isEnded whether the line has an end
	 * @returns the change that the line holds, if it is one
	 * @throws PlanFault
	 */
	line(bytes: Uint8Array, isEnded: boolean): PlannedChange | undefined {
		this.#lines += 1;
		const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString("utf8");
		if (this.#header === undefined) {
			this.#header = this.#first(text, isEnded);
			this.#hashLine(bytes);
			return undefined;
		}
		if (this.#counts !== undefined)
			throw this.#fault("was edited: text follows its last line, which counts the others");
		if (!isEnded) throw this.#cut();
		const footer = readFooter(text);
		if (footer !== undefined) {
			this.#counts = this.#last(footer);
			return undefined;
		}
		const change = readChange(text);
		if (change === undefined) throw this.#fault("was edited or cut: this is not a line of a plan");
		if (this.#header.sync === undefined && !this.#actions.includes(change.action)) {
			throw this.#fault(`has the action ${change.action}, which this command does not do`);
		}
		this.#changes += 1;
		this.#hashLine(bytes);
		return change;
	}

	/** @throws PlanFault where the plan has no last line */
	end(): CheckedPlan {
		if (this.#header === undefined) throw new PlanFault("is empty");
		if (this.#counts === undefined) throw this.#cut();
		return { header: this.#header, counts: this.#counts };
	}

	#first(text: string, isEnded: boolean): PlanHeader {
		if (!text.startsWith(BEGINNING)) throw this.#fault("was not written by ragtag docs plan");
		if (!isEnded) throw this.#cut();
		const version = jsonObjectOf(text)?.["ragtag_plan"];
		if (typeof version === "number" && version > PLAN_VERSION) {
			throw this.#fault(`is of format ${version}, which this version does not know`);
		}
		const header = readHeader(text);
		if (header === undefined) throw this.#fault("was edited: this is not how a plan begins");
		return header;
	}

	#last({ sha256, ...counts }: PlanCounts & { readonly sha256: string }): PlanCounts {
		if (counts.changes !== this.#changes) {
			const text = `was edited or cut: its last line counts ${counts.changes} changes, and it has ${this.#changes}`;
			throw this.#fault(text);
		}
		if (this.#hash.update(countsText(counts)).digest("hex") !== sha256) {
			throw new PlanFault("was edited: its checksum is not that of its lines");
		}
		return counts;
	}

	#hashLine(bytes: Uint8Array): void {
		this.#hash.update(bytes);
		this.#hash.update(LINE_END);
	}

	#cut(): PlanFault {
		return this.#fault("was cut: it ends before its last line, which counts the others");
	}

	#fault(text: string): PlanFault {
		return new PlanFault(text, this.#lines);
	}
}
