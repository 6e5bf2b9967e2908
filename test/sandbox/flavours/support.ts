import type { Flavour } from "../../../src/sandbox/flavours/index.ts";
import type { Sandbox, SandboxOptions } from "../../../src/sandbox/index.ts";
import * as by from "../support.ts";

export const putReleases = ["ragflow-0.18", "ragflow-0.21", "ragflow-0.23", "ragflow-0.24"] as const;
export const pythonPatchReleases = ["ragflow-0.25", "ragflow-0.26", "ragflow-0.27"] as const;
export const patchReleases = [...pythonPatchReleases, "ragflow-1.0"] as const;
/** The releases that are written in Python: v1.0 is another program, and differs in more than others do. */
export const pythonReleases = [...putReleases, ...pythonPatchReleases] as const;
export const releases = [...pythonReleases, "ragflow-1.0"] as const;

export type Place = { readonly sandbox: Sandbox; readonly dataset: string; readonly ids: readonly string[] };

/** A sandbox of that flavour, with a dataset that contains files with these names. */
export async function serve(
	flavour: Flavour,
	names: readonly string[] = ["a.txt"],
	options: Partial<SandboxOptions> = {},
): Promise<Place> {
	const sandbox = await by.start({ flavour, ...options });
	const dataset = await by.createDataset(sandbox);
	return { sandbox, dataset, ids: names.length === 0 ? [] : await by.upload(sandbox, dataset, ...names) };
}

function verbOf(flavour: Flavour): "PUT" | "PATCH" {
	return flavour >= "ragflow-0.25" ? "PATCH" : "PUT";
}

/** Updates the first document by the verb of the flavour. */
export function update(
	{ sandbox, dataset, ids }: Place,
	flavour: Flavour,
	metadata: string,
	sent: by.Sent = {},
): Promise<by.Answer> {
	const body = `{"meta_fields":${metadata}}`;
	const path = by.documentsPath(dataset, ids[0]);
	return by.send(sandbox, verbOf(flavour), path, { headers: by.jsonHeader, body, ...sent });
}

/** The metadata of the first document as text, as the list shows it. */
export async function stored({ sandbox, dataset, ids }: Place): Promise<string> {
	const { text } = await by.list(sandbox, dataset, { id: ids[0] ?? "" });
	return /"meta_fields":(\{.*?\}),"name"/.exec(text)?.[1] ?? text;
}

export async function names({ sandbox, dataset }: Place, query: Record<string, string> = {}): Promise<unknown[]> {
	return by.names(sandbox, dataset, { desc: "False", page_size: "100", ...query });
}
