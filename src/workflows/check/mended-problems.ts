import type { Problem } from "../../manifest/types.ts";
import { excerpt } from "../../text/show.ts";
import { numberText } from "../../text/words.ts";

/** Columns with options that are summed up: a hostile header has more. */
const MOST = 100;

/** Problems that one option mends, summed up by column: sixty cells with a decimal comma are one thing to do. */
export class MendedProblems {
	readonly #sums = new Map<string, { readonly first: Problem; count: number }>();

	/** @returns whether the problem is summed up, as the first of its kind is not */
	add(problem: Problem): boolean {
		const { field, mend } = problem;
		if (mend === undefined || field === null) return false;
		const kind = `${mend.option}\0${field}`;
		const sum = this.#sums.get(kind);
		if (sum !== undefined) sum.count += 1;
		else if (this.#sums.size < MOST) this.#sums.set(kind, { first: problem, count: 1 });
		return sum !== undefined;
	}

	/** A line for each column and option. */
	lines(): readonly string[] {
		return Array.from(this.#sums.values(), ({ first, count }) => {
			const { file, line, column, field, mend } = first;
			const cells = count === 1 ? "1 cell has" : `${numberText(count)} cells have`;
			const where = `${count === 1 ? "" : "the first "}at ${line}:${column}`;
			const reads = `${mend?.option} reads ${count === 1 ? "it" : "them"}`;
			return `${file}:${line}:${column}: ${excerpt(field ?? "")}: ${cells} ${mend?.what}, ${where}; ${reads}`;
		});
	}
}
