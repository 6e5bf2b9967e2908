import type { App } from "../../app.ts";
import type { Problem } from "../../manifest/types.ts";
import { numberText } from "../../text/words.ts";

/** Problems shown to a person; `--json` has all of them. */
const SHOWN = 20;

export type ProblemTeller = {
	/** resolves when more may be told: there may be more problems than a slow reader takes */
	readonly tell: (problem: Problem) => Promise<void>;
	/** says how many were not shown, once all are told */
	end(): void;
};

/** Prints problems as they are found: the first as lines on standard error, with `json` all as objects. */
export function problemTeller(json: boolean, io: App["io"]): ProblemTeller {
	let count = 0;
	return {
		async tell({ file, line, column, field, code, text }) {
			count += 1;
			if (count <= SHOWN) io.err(`${file}:${line}:${column}: ${text}`);
			if (!json) return;
			const problem = { type: "problem", file, line, column, field, error_code: code, error: text };
			await io.out(`${JSON.stringify(problem)}\n`);
		},
		end() {
			if (count <= SHOWN) return;
			const how = json ? "" : "; --json lists all of them";
			io.err(`... and ${numberText(count - SHOWN)} more problems${how}`);
		},
	};
}
