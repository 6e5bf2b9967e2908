import { createHash } from "node:crypto";
import type { JsonValue } from "../json/values.ts";
import { show } from "../text/show.ts";
import { documentsText, numberText } from "../text/words.ts";
import { type ShownChange, type ShownKey, shownKeys } from "./change-tally.ts";
import { markdownCode } from "./escape.ts";

/** Keys with one action that are counted by themselves; documents may have any number of keys. */
const MAX_KEYS = 500;

/** Values that are counted by themselves, of one key and of all. */
const MAX_VALUES_OF_KEY = 200;
const MAX_VALUES = 5_000;

/** Values of a key that are named, if several documents get each; and if each document gets another. */
const NAMED = 10;
const NAMED_SINGLE = 5;

/** Values of a key that are named as examples of those that are not. */
const EXAMPLES = 3;

/** Characters of a key or a value in a line. */
const LONGEST = 100;

/** Longest text that is compared as it is; of longer ones the hash is kept. */
const LONGEST_KEPT = 64;

/** Documents with the same new value of a key. Values are as JSON, and cut. */
type ValueGroup = {
	/** empty for a key that is removed */
	readonly to: string;
	/** empty where they had none, or different ones */
	from: string;
	readonly fromIdentity: string;
	documents: number;
};

type KeyGroup = {
	readonly key: string;
	readonly action: ShownKey["action"];
	readonly values: Map<string, ValueGroup>;
	/** of new values that are numbers: how many, and the outermost ones */
	readonly numbers: { documents: number; least: number; most: number };
	documents: number;
};

type Line = { readonly text: string; readonly documents: number };

/** Equal changes of documents, counted. Memory is bounded, however many documents and values there are. */
export class ChangeGroups {
	readonly #code: (text: string) => string;
	readonly #keys = new Map<string, KeyGroup>();
	#values = 0;
	#otherChanges = 0;

	/** @param code foreign text in the output, from which it can't break out */
	constructor(code = (text: string) => markdownCode(text, LONGEST)) {
		this.#code = code;
	}

	add({ action, difference }: Pick<ShownChange, "action" | "difference">): void {
		// A removed document loses all its keys.
		if (action === "remove") return;
		for (const key of shownKeys(difference)) this.#add(key);
	}

	#add({ key, action, from, to }: ShownKey): void {
		const identity = `${action} ${identityOf(key)}`;
		const group: KeyGroup = this.#keys.get(identity) ?? {
			key: show(key, LONGEST),
			action,
			values: new Map(),
			numbers: { documents: 0, least: Number.POSITIVE_INFINITY, most: Number.NEGATIVE_INFINITY },
			documents: 0,
		};
		if (group.documents === 0) {
			if (this.#keys.size === MAX_KEYS) {
				this.#otherChanges += 1;
				return;
			}
			this.#keys.set(identity, group);
		}
		group.documents += 1;
		const { numbers } = group;
		if (typeof to === "number") {
			numbers.documents += 1;
			numbers.least = Math.min(numbers.least, to);
			numbers.most = Math.max(numbers.most, to);
		}
		const [before, after] = [textOf(from), textOf(to)];
		const value = identityOf(after === "" ? before : after);
		const fromIdentity = identityOf(before);
		const known = group.values.get(value);
		if (known !== undefined) {
			known.documents += 1;
			if (known.fromIdentity !== fromIdentity) known.from = "";
		} else if (group.values.size < MAX_VALUES_OF_KEY && this.#values < MAX_VALUES) {
			this.#values += 1;
			group.values.set(value, { to: show(after, LONGEST), from: show(before, LONGEST), fromIdentity, documents: 1 });
		}
	}

	/** The groups, those of most documents first. */
	lines(): readonly Line[] {
		const lines = [...this.#keys.values()].flatMap((group) => linesOf(group, this.#code));
		return lines.toSorted((one, other) => other.documents - one.documents);
	}

	/**
	 * A Markdown list of the groups, those of most documents first.
	 *
	 * @param room characters that it may have at most
	 */
	list(room: number): string {
		const lines = this.lines();
		let text = "";
		let left = this.#otherChanges;
		let isFull = false;
		for (const line of lines) {
			const item = `- ${line.text}\n`;
			isFull ||= text.length + item.length + OTHERS_ROOM > room;
			if (isFull) left += line.documents;
			else text += item;
		}
		return left === 0 ? text : `${text}- and ${numberText(left)} other ${left === 1 ? "change" : "changes"} of a key\n`;
	}
}

/** Characters for the line of those that are left out. */
const OTHERS_ROOM = 60;

/** The lines of a key: its common values, and one line for the others. */
function linesOf({ key, action, values, numbers, documents }: KeyGroup, code: (text: string) => string): Line[] {
	const line = (what: string, count: number): Line => {
		return { text: `${code(key)}: ${what}: ${documentsText(count)}`, documents: count };
	};
	if (numbers.documents === documents && values.size > NAMED_SINGLE) {
		const [least, greatest] = [numbers.least, numbers.most].map((number) => code(String(number)));
		return [line(`${action} ${action === "change" ? "to " : ""}numbers from ${least} to ${greatest}`, documents)];
	}
	const most = [...values.values()].toSorted((one, other) => other.documents - one.documents);
	const several = most.filter((group) => group.documents > 1);
	const isShort = several.length === most.length || most.length <= NAMED_SINGLE;
	const named = (isShort ? most : several).slice(0, NAMED);
	const lines = named.map((group) => line(`${action} ${valuesText(action, group, code)}`, group.documents));
	const rest = documents - named.reduce((sum, group) => sum + group.documents, 0);
	if (rest === 0) return lines;
	const examples = most.filter((group) => !named.includes(group)).slice(0, EXAMPLES);
	const such = examples.map(({ to, from }) => code(to === "" ? from : to)).join(", ");
	const what = `${action} ${named.length === 0 ? "various" : "other"} values${such === "" ? "" : `, such as ${such}`}`;
	return [...lines, line(what, rest)];
}

function valuesText(action: ShownKey["action"], { from, to }: ValueGroup, code: (text: string) => string): string {
	if (action !== "change") return code(action === "add" ? to : from);
	return from === "" ? `to ${code(to)}` : `${code(from)} to ${code(to)}`;
}

/** As JSON, so that the text "5" and the number 5 differ. */
function textOf(value: JsonValue | undefined): string {
	return value === undefined ? "" : JSON.stringify(value);
}

function identityOf(text: string): string {
	return text.length <= LONGEST_KEPT ? text : createHash("sha256").update(text).digest("base64");
}
