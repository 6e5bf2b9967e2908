import type { App } from "../../app.ts";
import type { FileFacts } from "../../files/facts.ts";
import type { Metadata } from "../../json/values.ts";
import { type Fault, problemOf } from "../../manifest/fault.ts";
import { MemberNames } from "../../manifest/json/object.ts";
import { readSidecar } from "../../manifest/json/sidecar.ts";
import { emptyRow } from "../../manifest/rows/row-reader.ts";
import { RowValidator } from "../../manifest/rows/validator.ts";
import type { ManifestOptions } from "../../manifest/types.ts";
import { excerpt } from "../../text/show.ts";
import { problemReporter } from "../check/check-manifest.ts";
import { type FactSetting, setFacts } from "./file-values.ts";

/** The metadata of files, from their sidecars and from facts of each. Every problem is printed. */
export class FileMetadata {
	/** problems so far */
	problems = 0;
	readonly #app: App;
	readonly #options: ManifestOptions;
	readonly #validator: RowValidator;
	readonly #names: MemberNames;
	readonly #printed: ReturnType<typeof problemReporter>;

	private constructor(app: App, json: boolean, options: ManifestOptions, validator: RowValidator) {
		this.#app = app;
		this.#options = options;
		this.#validator = validator;
		this.#names = new MemberNames(options);
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
		const read = sidecar === undefined ? undefined : await readSidecar(sidecar, this.#names);
		if (sidecar !== undefined && read === undefined) {
			const text = `has no sidecar: there is no ${excerpt(sidecar)}`;
			await this.report(facts.path, { field: null, code: "NO_SIDECAR", text });
			return undefined;
		}
		const { parsed = emptyRow() } = read ?? {};
		const file = sidecar ?? facts.path;
		const faults = this.#validator.faults(parsed, true);
		faults.push(...(await setFacts(settings, facts, parsed.metadata, this.#options)));
		this.#validator.addSchemaFaults([parsed], () => excerpt(file));
		for (const fault of faults) await this.report(file, fault, read?.placeOf(fault));
		return faults.length === 0 ? parsed.metadata : undefined;
	}

	async report(file: string, fault: Fault, place?: Parameters<typeof problemOf>[2]): Promise<void> {
		this.problems += 1;
		// Options that mend cells read no sidecar.
		await this.#printed.report(problemOf(file, { ...fault, mend: undefined }, place));
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
