import { metadataText } from "../../json.ts";
import type { ShownChange } from "./shown-change.ts";

/** The `--json` line of a document that would change. Text, so that keys keep their order and `__proto__` is one of them. */
export function changeLine({ line, datasetId, documentId, difference }: ShownChange): string {
	const { add, change, remove } = difference;
	const head = JSON.stringify({
		type: "change",
		action: "update",
		line,
		dataset_id: datasetId,
		document_id: documentId,
	});
	const changed = metadataText(change);
	return `${head.slice(0, -1)},"add":${metadataText(add)},"change":${changed},"remove":${metadataText(remove)}}\n`;
}
