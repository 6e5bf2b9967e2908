import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { isJsonObject } from "../../json/values.ts";
import { writeWhole } from "../../write-whole.ts";
import { makeFolder } from "../storage/folders.ts";

export type NamedDataset = { readonly id: string; readonly name: string };

/** Names kept at most: what a shell offers must be read in a moment. */
const MOST_NAMES = 10_000;

/**
 * The datasets of one address, as its last whole list showed them. Shell completion offers them and asks no service.
 * They are offered, never used as facts.
 */
export class RememberedDatasets {
	readonly #folder: string;
	readonly #path: string;
	readonly #baseUrl: string;

	constructor(stateDir: string, baseUrl: string) {
		this.#folder = join(stateDir, "services");
		this.#baseUrl = baseUrl;
		const name = createHash("sha256").update(baseUrl).digest("hex").slice(0, 16);
		this.#path = join(this.#folder, `${name}.datasets.json`);
	}

	/** Nothing where the file is not there, or is not what `save` writes. */
	async load(): Promise<readonly NamedDataset[]> {
		try {
			const value: unknown = JSON.parse(await readFile(this.#path, "utf8"));
			if (!isJsonObject(value) || value["base_url"] !== this.#baseUrl || !Array.isArray(value["datasets"])) return [];
			const datasets: readonly unknown[] = value["datasets"];
			return datasets.flatMap((one) =>
				isJsonObject(one) && typeof one["id"] === "string" && typeof one["name"] === "string"
					? [{ id: one["id"], name: one["name"] }]
					: [],
			);
		} catch {
			return [];
		}
	}

	async save(datasets: readonly NamedDataset[]): Promise<void> {
		const kept = datasets.slice(0, MOST_NAMES).map(({ id, name }) => ({ id, name }));
		try {
			makeFolder(this.#folder);
			const text = `${JSON.stringify({ base_url: this.#baseUrl, datasets: kept })}\n`;
			await writeWhole(this.#path, text, { isSynced: false });
		} catch {
			// The shell offers no names.
		}
	}
}
