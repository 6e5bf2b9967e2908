import type { App } from "../../app.ts";
import type { FileFacts } from "../../files/facts.ts";
import type { Metadata } from "../../json/values.ts";
import { type Fault, positionIn } from "../../manifest/fault.ts";
import { MemberNames } from "../../manifest/json/object.ts";
import { JsonReader } from "../../manifest/json/reader.ts";
import { readSidecar } from "../../manifest/json/sidecar.ts";
import { emptyRow } from "../../manifest/rows/row-reader.ts";
import { RowValidator } from "../../manifest/rows/validator.ts";
import type { ManifestOptions } from "../../manifest/types.ts";
import { excerpt } from "../../text/show.ts";
import { problemReporter } from "../check/check-manifest.ts";
import { type FactSetting, setFacts } from "./file-values.ts";

type Text = { readonly file: string; readonly text: string };

/** The metadata of files, from their sidecars and from facts of each. Every problem is printed. */
export class FileMetadata {
	/** problems so far */
	problems = 0;
	readonly #app: App;
	readonly #options: ManifestOptions;
	readonly #validator: RowValidator;
	readonly #names: MemberNames;
	/** finds the members of a sidecar that has a fault */
	readonly #reader: JsonReader;
	readonly #printed: ReturnType<typeof problemReporter>;

	private constructor(app: App, json: boolean, options: ManifestOptions, validator: RowValidator) {
		this.#app = app;
		this.#options = options;
		this.#validator = validator;
		this.#names = new MemberNames(options);
		this.#reader = new JsonReader("jsonl", options);
		this.#printed = problemReporter(json, app);
	}

	/** @throws CliError exit 2 when the schema cannot be used */
	static async create(app: App, json: boolean, options: ManifestOptions): Promise<FileMetadata> {
		return new FileMetadata(app, json, options, await RowValidator.create(".", options));
	}

	/**
	 * What a file is to have.
	 *
	 * @param sidecar its path; undefined where the file has none
	 */
	async of(
		facts: FileFacts,
		sidecar: string | undefined,
		settings: readonly FactSetting[] = [],
	): Promise<Metadata | undefined> {
		this.#app.signal.throwIfAborted();
		const read = sidecar === undefined ? { parsed: emptyRow(), text: "" } : await readSidecar(sidecar, this.#names);
		if (read === undefined) {
			const text = `has no sidecar: there is no ${excerpt(sidecar ?? "")}`;
			await this.report({ file: facts.path, text: "" }, { field: null, code: "NO_SIDECAR", text });
			return undefined;
		}
		const { parsed, text } = read;
		const file = sidecar ?? facts.path;
		const faults = this.#validator.faults(parsed, true);
		faults.push(...(await setFacts(settings, facts, parsed.metadata, this.#options)));
		const row = { metadata: parsed.metadata, place: excerpt(file), faults };
		if (parsed.isReadable) await this.#validator.addSchemaFaults([row], this.#app.signal);
		for (const fault of faults) await this.report({ file, text }, fault);
		return faults.length === 0 ? parsed.metadata : undefined;
	}

	async report({ file, text: content }: Text, { field, code, text, offset }: Fault): Promise<void> {
		this.problems += 1;
		const raw = { text: content, line: 1, column: 1, cells: undefined, fault: undefined };
		const isIn = field !== null && content !== "";
		const place = positionIn(content, offset ?? (isIn ? this.#reader.offsetOf(raw, field) : 0), 1);
		const sentence = field === null ? text : `${excerpt(field)}: ${text}`;
		await this.#printed.report({ file, ...place, field, code, text: sentence });
	}

	/** Names of `--map` and `--ignore` that no sidecar has, each with its flag. */
	unused(): ReturnType<MemberNames["unused"]> {
		return this.#names.unused();
	}

	/** Prints how many problems were not shown. */
	end(): void {
		this.#printed.end();
	}
}
