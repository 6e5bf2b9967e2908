import { isAlias, isMap, isNode, isScalar, isSeq, type LineCounter, type YAMLMap } from "yaml";
import { CliError, Exit } from "../errors.ts";
import type { JsonValue } from "../json/values.ts";

export type Key = { readonly text: string; readonly offset: number };
export type Member = { readonly key: Key; readonly value: unknown };

/** Reads the nodes of a YAML document strictly. A node of another type is a usage error with its line and column. */
export class YamlReader {
	readonly #file: string;
	readonly #lines: LineCounter;

	constructor(file: string, lines: LineCounter) {
		this.#file = file;
		this.#lines = lines;
	}

	problem(offset: number, text: string): CliError {
		const { line, col } = this.#lines.linePos(offset);
		return new CliError(`${this.#file}:${line}:${col}: ${text}`, { exit: Exit.usage });
	}

	map(node: unknown, what: string, offset: number): YAMLMap {
		if (isMap(node)) return node;
		throw this.problem(offsetOf(node) ?? offset, `${what} must be a map of names${aliasNote(node)}`);
	}

	/** The members of a map. An empty document has none. */
	members(node: unknown, what: string): Member[] {
		if (node === null) return [];
		return this.map(node, what, 0).items.map(({ key, value }) => {
			if (!isScalar(key) || typeof key.value !== "string") {
				throw this.problem(offsetOf(key) ?? 0, `a name in ${what} must be text: put it in quotes`);
			}
			return { key: { text: key.value, offset: offsetOf(key) ?? 0 }, value };
		});
	}

	/** The plain value of a member: text, a number, true, false or null; undefined for any other. */
	scalar(value: unknown): unknown {
		return isScalar(value) ? value.value : undefined;
	}

	/** The items of a list; undefined for any other value. */
	items(value: unknown): readonly unknown[] | undefined {
		return isSeq(value) ? value.items : undefined;
	}

	/** The value as JSON; undefined if JSON has no such value. */
	json(value: unknown): JsonValue | undefined {
		if (isSeq(value)) {
			const items: JsonValue[] = [];
			for (const each of value.items) {
				const item = this.json(each);
				if (item === undefined) return undefined;
				items.push(item);
			}
			return items;
		}
		if (isMap(value)) {
			const members: [string, JsonValue][] = [];
			for (const { key, value: each } of this.members(value, "a value")) {
				const member = this.json(each);
				if (member === undefined) return undefined;
				members.push([key.text, member]);
			}
			return Object.fromEntries(members);
		}
		const scalar = this.scalar(value);
		if (scalar === null || typeof scalar === "string" || typeof scalar === "boolean") return scalar;
		return typeof scalar === "number" && Number.isFinite(scalar) ? scalar : undefined;
	}

	/** The error for a member with a value of the wrong type. */
	mismatch({ key, value }: Member, wanted: string): CliError {
		return this.problem(offsetOf(value) ?? key.offset, `${key.text} must be ${wanted}${aliasNote(value)}`);
	}
}

function offsetOf(node: unknown): number | undefined {
	return isNode(node) ? node.range?.[0] : undefined;
}

function aliasNote(node: unknown): string {
	return isAlias(node) ? " written out, not an alias" : "";
}
