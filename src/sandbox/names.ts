import { Refusal } from "./envelope.ts";
import { datasetNameLimit, documentNameLimit } from "./settings.ts";

export function checkDatasetName(name: unknown): string {
	if (typeof name !== "string") throw new Refusal(400, "name is missing or not text");
	checkText(name);
	if (name.trim() === "") throw new Refusal(400, "name is empty");
	if (Array.from(name).length > datasetNameLimit) throw new Refusal(400, `name is over ${datasetNameLimit} characters`);
	return name;
}

/** The name that a file is stored under: the last segment of what the part calls it. */
export function checkDocumentName(fileName: string | undefined): string {
	if (fileName === undefined) throw new Refusal(400, "a part named file has no file name");
	const name = fileName.slice(Math.max(fileName.lastIndexOf("/"), fileName.lastIndexOf("\\")) + 1);
	checkText(name);
	if (name === "" || name === "." || name === "..") throw new Refusal(400, "the file name of a part is empty");
	if (Buffer.byteLength(name) > documentNameLimit)
		throw new Refusal(400, `a file name is over ${documentNameLimit} bytes`);
	return name;
}

/** SQLite ends text at a NUL when it hands it back, so such a name would come out as another. */
function checkText(name: string): void {
	if (name.includes("\0")) throw new Refusal(400, "a name holds a NUL character");
}
