import type { RunFile } from "./run-file.ts";

/** How a run is called that takes another back. */
export const UNDO = "runs undo";

/** What the manifest of such a run is called. */
const UNDO_OF = "undo of ";

export function undoName(run: string): string {
	return `${UNDO_OF}${run}`;
}

/** The run that a run takes back; undefined where it takes none back. */
export function takenBackBy({
	command,
	manifest: { name },
}: Pick<RunFile, "command"> & { readonly manifest: Pick<RunFile["manifest"], "name"> }): string | undefined {
	return command === UNDO && name.startsWith(UNDO_OF) ? name.slice(UNDO_OF.length) : undefined;
}
