import { isObject } from "../json-text.ts";

/** A plan that is not valid. The message names the place and the reason, for the person who wrote it. */
export class PlanError extends Error {
	override readonly name = "PlanError";
}

type Range = { readonly least: number; readonly most: number };

/** The members of one object of a plan, each checked when it is read. Unknown members are errors. */
export class PlanParams {
	readonly members: { readonly [name: string]: unknown };
	readonly #where: string;
	readonly #read = new Set<string>();

	/** `where` names the object in messages. */
	constructor(members: unknown, where: string) {
		this.#where = where;
		if (!isObject(members)) throw this.error("is not an object");
		this.members = members;
	}

	error(why: string): PlanError {
		return new PlanError(`${this.#where} ${why}`);
	}

	/** Any JSON value; `undefined` where it is absent. */
	value(name: string): unknown {
		this.#read.add(name);
		return Object.hasOwn(this.members, name) ? this.members[name] : undefined;
	}

	integer(name: string, absent: number, range: Range): number {
		return this.optionalInteger(name, range) ?? absent;
	}

	optionalInteger(name: string, range: Range): number | undefined {
		const value = this.value(name);
		return value === undefined ? undefined : this.#checkedInteger(name, value, range);
	}

	integers(name: string, range: Range): readonly number[] | undefined {
		const value = this.value(name);
		if (value === undefined) return undefined;
		const items: readonly unknown[] = Array.isArray(value) ? value : [value];
		if (items.length === 0) throw this.error(`has an empty "${name}"`);
		return items.map((item) => this.#checkedInteger(name, item, range));
	}

	fraction(name: string): number | undefined {
		const value = this.value(name);
		if (value === undefined) return undefined;
		if (typeof value === "number" && value >= 0 && value <= 1) return value;
		throw this.error(`has a "${name}" that is not a number from 0 to 1`);
	}

	text(name: string, absent: string): string {
		return this.optionalText(name) ?? absent;
	}

	optionalText(name: string): string | undefined {
		const value = this.value(name);
		if (value === undefined || typeof value === "string") return value;
		throw this.error(`has a "${name}" that is not text`);
	}

	/** `undefined` where it is absent. */
	textOrNull(name: string): string | null | undefined {
		const value = this.value(name);
		if (value === undefined || value === null || typeof value === "string") return value;
		throw this.error(`has a "${name}" that is neither text nor null`);
	}

	flag(name: string): boolean {
		const value = this.value(name) ?? false;
		if (typeof value === "boolean") return value;
		throw this.error(`has a "${name}" that is neither true nor false`);
	}

	/** The first choice is the default. */
	choice<Choice extends string>(name: string, choices: readonly [Choice, ...Choice[]]): Choice {
		const value = this.value(name) ?? choices[0];
		const found = choices.find((choice) => choice === value);
		if (found === undefined) throw this.error(`has a "${name}" that is none of ${choices.join(", ")}`);
		return found;
	}

	/** Called last: throws for members that were not read. */
	refuseUnknown(): void {
		for (const name of Object.keys(this.members)) {
			if (this.#read.has(name)) continue;
			throw this.error(`has an unknown member "${name}"; it takes ${[...this.#read].join(", ")}`);
		}
	}

	#checkedInteger(name: string, value: unknown, { least, most }: Range): number {
		if (typeof value === "number" && Number.isInteger(value) && value >= least && value <= most) return value;
		throw this.error(`has a "${name}" that is not a whole number from ${least} to ${most}`);
	}
}
