import { isObject } from "../object.ts";

/** A plan that can't be followed. The message says where and why, for the person who wrote it. */
export class PlanError extends Error {
	override readonly name = "PlanError";
}

export type Members = { readonly [name: string]: unknown };
type Range = { readonly least: number; readonly most: number };

/** The members of one object of a plan, each checked as it is read; what nobody read is a slip of the pen. */
export class PlanParams {
	readonly #members: Members;
	readonly #where: string;
	readonly #read = new Set<string>();

	constructor(members: unknown, where: string) {
		this.#where = where;
		if (!isObject(members)) throw this.wrong("is not an object");
		this.#members = members;
	}

	get all(): Members {
		return this.#members;
	}

	wrong(why: string): PlanError {
		return new PlanError(`${this.#where} ${why}`);
	}

	/** Any JSON value; `undefined` where it is not given. */
	value(name: string): unknown {
		this.#read.add(name);
		return Object.hasOwn(this.#members, name) ? this.#members[name] : undefined;
	}

	integer(name: string, otherwise: number, range: Range): number {
		return this.maybeInteger(name, range) ?? otherwise;
	}

	maybeInteger(name: string, range: Range): number | undefined {
		const value = this.value(name);
		return value === undefined ? undefined : this.#whole(name, value, range);
	}

	integers(name: string, range: Range): readonly number[] | undefined {
		const value = this.value(name);
		if (value === undefined) return undefined;
		const items: readonly unknown[] = Array.isArray(value) ? value : [value];
		if (items.length === 0) throw this.wrong(`has an empty "${name}"`);
		return items.map((item) => this.#whole(name, item, range));
	}

	fraction(name: string): number | undefined {
		const value = this.value(name);
		if (value === undefined) return undefined;
		if (typeof value === "number" && value >= 0 && value <= 1) return value;
		throw this.wrong(`has a "${name}" that is not a number from 0 to 1`);
	}

	text(name: string, otherwise: string): string {
		return this.maybeText(name) ?? otherwise;
	}

	maybeText(name: string): string | undefined {
		const value = this.value(name);
		if (value === undefined || typeof value === "string") return value;
		throw this.wrong(`has a "${name}" that is not text`);
	}

	flag(name: string): boolean {
		const value = this.value(name) ?? false;
		if (typeof value === "boolean") return value;
		throw this.wrong(`has a "${name}" that is neither true nor false`);
	}

	choice<Choice extends string>(name: string, choices: readonly [Choice, ...Choice[]]): Choice {
		const value = this.value(name) ?? choices[0];
		const found = choices.find((choice) => choice === value);
		if (found === undefined) throw this.wrong(`has a "${name}" that is none of ${choices.join(", ")}`);
		return found;
	}

	/** Called last: throws for members that nobody asked for. */
	end(): void {
		for (const name of Object.keys(this.#members)) {
			if (this.#read.has(name)) continue;
			throw this.wrong(`has an unknown member "${name}"; it takes ${[...this.#read].join(", ")}`);
		}
	}

	#whole(name: string, value: unknown, { least, most }: Range): number {
		if (typeof value === "number" && Number.isInteger(value) && value >= least && value <= most) return value;
		throw this.wrong(`has a "${name}" that is not a whole number from ${least} to ${most}`);
	}
}
