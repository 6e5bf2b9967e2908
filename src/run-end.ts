import type { CliError, ExitCode } from "./errors.ts";
import type { Problem } from "./manifest/types.ts";
import type { PageFailure } from "./report/page/model.ts";
import { type Ended, summaryOf } from "./report/summary.ts";
import type { Outcome } from "./run/types.ts";

/** Failed rows, and problems of a manifest, that are kept for the outputs of a run. The others are counted. */
const KEPT = 10_000;

/** The paths of a run's outputs, by the flags that name them. A command without annotations has none. */
export type OutputFlags = {
	readonly [Name in "out" | "logFile" | "failed" | "junit" | "metricsFile" | "progress" | "report"]?:
		| string
		| undefined;
} & { readonly annotations?: "auto" | "github" | "gitlab" | "none" | undefined };

/** A row that failed, as outputs show it. */
export type FailedRow = PageFailure & {
	/** the file that its line belongs to, as messages name it */
	readonly file: string;
	/** the document's name, where it is known */
	readonly name?: string | undefined;
};

/** The facts about an ended command for its outputs. The key is masked in its texts. */
export type RunEnd = ReturnType<RunEndCollector["endOf"]>;

type FailedOutcome = Pick<Outcome, "item" | "documentId" | "name" | "error" | "attempts">;

/** Collects the facts for a command's outputs while it runs. One command line has one. */
export class RunEndCollector {
	readonly #masked: (text: string) => string;
	#started = new Date();
	#command = "";
	#args: readonly string[] = [];
	#text: string | undefined;
	#result: Ended | undefined;
	readonly #problems: Problem[] = [];
	#problemCount = 0;
	/** by the position of the row */
	readonly #failedRows = new Map<number, FailedRow>();
	flags: OutputFlags = {};
	/** paths of outputs that must not be written */
	readonly refused = new Set<string>();
	/** the folder of the run that a command is about; otherwise that of the run which ended */
	folder: string | undefined;
	/** outputs that could not be written, and why */
	readonly failures = new Map<string, string>();
	/** called once with the exit code, when all is written */
	onEnd: ((exit: ExitCode) => Promise<void>) | undefined;
	/** whether the lines of the manifest are annotated already */
	isAnnotated = false;
	/** the exit code that the outputs say; undefined before they are written */
	written: ExitCode | undefined;

	/** @param masked masks the key in a text */
	constructor(masked: (text: string) => string) {
		this.#masked = masked;
	}

	/** Takes the command line. */
	begin(command: string, args: readonly string[], flags: OutputFlags): void {
		this.#command = command;
		this.#args = args;
		this.flags = flags;
		this.#started = new Date();
	}

	problem(problem: Problem): void {
		this.#problemCount += 1;
		if (this.#problems.length < KEPT) this.#problems.push(problem);
	}

	/** @param file the file that the line of the row belongs to */
	failedRow(file: string, { item, documentId, name, error, attempts }: FailedOutcome): void {
		if (this.#failedRows.size >= KEPT || error === undefined) return;
		this.#failedRows.set(item.index, {
			file,
			line: item.line,
			documentId: documentId === "" ? item.documentId : documentId,
			path: item.file?.path,
			name: name ?? item.name,
			code: error.code,
			text: error.text,
			attempts,
		});
	}

	/** Takes the end of a command that reports its rows. A later one replaces it. */
	report(text: string, result: Ended): void {
		this.#text = text;
		this.#result = result;
	}

	/** Takes an error that ends the command. An earlier report stands. */
	fail({ message, hint }: Pick<CliError, "message" | "hint">): void {
		this.#text = [this.#text, message, hint].filter((line) => line !== undefined).join("\n");
	}

	/** The facts that are known now. */
	endOf(exit: ExitCode) {
		const masked = this.#masked;
		const result = this.#result;
		const summary = result && summaryOf(result, exit);
		const failedRows = [...this.#failedRows]
			.toSorted(([one], [other]) => one - other)
			.map(([, row]) => ({ ...row, documentId: masked(row.documentId), text: masked(row.text) }));
		const failedRowCount = Math.max(failedRows.length, summary?.failed ?? 0);
		return {
			/** `docs tag` */
			command: this.#command,
			/** arguments as they were typed: a manifest, files, the name of a run */
			args: this.#args.map(masked),
			exit,
			/** the result in sentences, and the next command */
			text: masked(this.#text ?? ""),
			/** undefined where the command ended before its rows were known */
			summary,
			/** its members that no summary has, as the causes that made it slow; undefined where the summary is */
			result,
			/** the folder of the recorded run; undefined where none is recorded */
			folder: result?.folder ?? this.folder,
			started: this.#started,
			ended: new Date(),
			/** in the order of the manifest, at most 10,000 */
			problems: this.#problems.map((problem) => ({ ...problem, text: masked(problem.text) })),
			problemCount: this.#problemCount,
			/** in the order of the manifest, at most 10,000; a resumed run has also those of its earlier executions */
			failedRows,
			failedRowCount,
			/** problems and failed rows that are counted, and not in the lists above */
			unlisted: this.#problemCount - this.#problems.length + failedRowCount - failedRows.length,
		};
	}
}
