import { CliError, Exit } from "../../errors.ts";
import { numberText, documentsText } from "../../text/words.ts";
import type { ShortList } from "../../run/documents/pages.ts";
import { show } from "../../text/show.ts";

/** The end of a command whose list stayed short. `output` is what it has written by then: all that there was to see. */
export function shortListError(dataset: string, { shown, total, passes }: ShortList, output: string): CliError {
	const tried = `${passes} ${passes === 1 ? "pass" : "passes"}`;
	return new CliError(
		`the service says that dataset ${show(dataset)} has ${documentsText(total)}, and its pages showed ${numberText(shown)}, ` +
			`in ${tried}; ${output} is not complete`,
		{
			exit: Exit.failedRows,
			hint: "Run the same command again. Where it ends like this again, the service's count or its pages are wrong: tell whoever runs it.",
		},
	);
}
