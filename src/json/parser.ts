import { excerpt } from "../text/show.ts";
import { JsonLexer, type JsonFault, type JsonRules } from "./lexer.ts";
import type { JsonValue } from "./values.ts";

/** A member of an object: its value, and where name and value stand in the text, in UTF-16 units. */
export type Member = {
	readonly value: JsonValue;
	/** of the name's first quote */
	readonly start: number;
	readonly valueStart: number;
	/** past the value */
	readonly end: number;
	/** the members of a value that is an object, in the order of the text */
	readonly members: ReadonlyMap<string, Member> | undefined;
};

/**
 * Reads JSON strictly: it repairs nothing, and refuses what would be sent differently from the text (a member twice, a
 * number beyond a double). An escape for half a surrogate pair is sent as such an escape.
 *
 * @throws JsonFault
 */
export function parseValue(text: string, rules: JsonRules): JsonValue {
	const parser = new Parser(text, rules, undefined);
	const value = parser.value(0);
	parser.finish();
	return value;
}

/**
 * The members of a JSON object in their order, which an object would change for names that look like numbers.
 *
 * @param faults gathers the faults after which the text can be read on; without it the first one is thrown
 * @throws JsonFault also when the text is JSON but no object
 */
export function parseMembers(text: string, rules: JsonRules, faults?: JsonFault[]): ReadonlyMap<string, Member> {
	const parser = new Parser(text, rules, faults);
	const members = parser.members(0);
	parser.finish();
	return members;
}

class Parser extends JsonLexer {
	value(depth: number): JsonValue {
		switch (this.peek()) {
			case "{":
				return objectOf(this.members(depth));
			case "[":
				return this.#array(depth);
			case '"':
				return this.string();
			case "t":
				return this.word("true", true);
			case "f":
				return this.word("false", false);
			case "n":
				return this.word("null", null);
			default:
				return this.number();
		}
	}

	members(depth: number): Map<string, Member> {
		this.#open("{", depth);
		const members = new Map<string, Member>();
		if (this.accept("}")) return members;
		do {
			if (this.peek() !== '"') this.fail("a member's name in double quotes");
			const start = this.at;
			const name = this.string();
			if (depth < 2) this.names[depth === 0 ? 0 : 1] = name;
			const isTwice = this.rules.number === undefined && members.has(name);
			if (isTwice) {
				this.report("DUPLICATE_MEMBER", `the member "${excerpt(name)}" stands twice in one object`, start);
			}
			this.expect(":");
			const isObject = this.peek() === "{";
			const valueStart = this.at;
			const inner = isObject ? this.members(depth + 1) : undefined;
			const value = inner === undefined ? this.value(depth + 1) : objectOf(inner);
			if (!isTwice) members.set(name, { value, start, valueStart, end: this.at, members: inner });
		} while (this.accept(","));
		this.expect("}");
		if (depth === 1) this.names[1] = null;
		return members;
	}

	finish(): void {
		if (this.peek() !== "") this.fail("nothing more");
	}

	#array(depth: number): JsonValue[] {
		this.#open("[", depth);
		const items: JsonValue[] = [];
		if (this.accept("]")) return items;
		do items.push(this.value(depth + 1));
		while (this.accept(","));
		this.expect("]");
		return items;
	}

	#open(bracket: string, depth: number): void {
		this.expect(bracket);
		const { maxDepth } = this.rules;
		if (depth >= maxDepth) throw this.fault("TOO_DEEP", `nested more than ${maxDepth} deep`, this.at - 1);
	}
}

/** Members as a plain object; `__proto__` becomes data like any other name. */
function objectOf(members: ReadonlyMap<string, Member>): JsonValue {
	const object: Record<string, JsonValue> = {};
	for (const [name, { value }] of members) {
		if (name === "__proto__") {
			Object.defineProperty(object, name, { value, enumerable: true, configurable: true, writable: true });
		} else object[name] = value;
	}
	return object;
}
