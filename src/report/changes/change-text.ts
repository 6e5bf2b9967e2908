import type { JsonValue } from "../../json/values.ts";
import { show } from "../../text/show.ts";
import { type ChangeAction, type ShownChange, type ShownKey, shownKeys } from "./shown-change.ts";

/** Marks for a terminal; each may give its text back as it is. */
export type Marks = Readonly<Record<"bold" | "dim" | "red" | "green" | "yellow", (text: string) => string>>;

/** A document that would change, for people: a line for the document, and one for each of its keys. */
export function changeText(shown: ShownChange, marks: Marks, longest: number): string {
	const { action, line, documentId, file, difference } = shown;
	const keys = shownKeys(difference).map((key) => keyText(key, marks, longest));
	const subject = marks.bold(show(file ?? documentId, longest));
	return `${subject} ${marks.dim(`line ${line}`)}${actionText(action, marks)}\n${keys.join("")}`;
}

/** What would become of a document as a whole; of one that is updated, its keys say it. */
function actionText(action: ChangeAction, marks: Marks): string {
	switch (action) {
		case "update":
			return "";
		case "upload":
			return `  ${marks.green("would be uploaded")}`;
		case "remove":
			return `  ${marks.red("would be removed")}`;
	}
}

function keyText({ key, action, from, to }: ShownKey, marks: Marks, longest: number): string {
	const name = show(key, longest);
	const [before, after] = [valueText(from, longest), valueText(to, longest)];
	// The sign is there without colour, too: logs have none, and not everyone sees it.
	switch (action) {
		case "add":
			return `${marks.green(`  + ${name}: ${after}`)}\n`;
		case "change":
			return `${marks.yellow(`  ~ ${name}: `)}${before} ${marks.yellow("→")} ${after}\n`;
		case "remove":
			return `${marks.red(`  - ${name}: ${before}`)}\n`;
	}
}

/** As JSON, so that the text "5" and the number 5 are told apart. */
function valueText(value: JsonValue | undefined, longest: number): string {
	return value === undefined ? "" : show(JSON.stringify(value), longest);
}
