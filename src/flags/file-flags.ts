import { type Command, Option } from "commander";
import { NAME_FORMS, type NameForm } from "../files/stored-names.ts";
import { collect, parseNonEmpty } from "./values.ts";

/** Flags that say which files are meant, and under what names. */
export type FileFlags = {
	readonly include?: readonly string[] | undefined;
	readonly exclude?: readonly string[] | undefined;
	readonly filesFrom?: string | undefined;
	/** whether the paths of `filesFrom` stand between NULs */
	readonly null?: boolean | undefined;
	readonly names?: NameForm | undefined;
	readonly follow?: boolean | undefined;
	/** false: sidecars are files like others */
	readonly sidecars?: boolean | undefined;
};

/** Flags of the files of folders. A manifest names its files itself. */
const OF_FOLDERS = ["include", "exclude", "filesFrom", "null", "names", "follow"] as const;

/** Options of commands that take folders. @param verb what `--no-sidecars` does to a file: `uploads` */
export function addFileOptions(command: Command, verb: string): Command {
	return command
		.option("--include <glob>", "takes only files of folders that match, as '*.pdf' or 'hr/**' (repeatable)", collect)
		.option("--exclude <glob>", "leaves out files and folders that match (repeatable)", collect)
		.option("--files-from <file>", "file with the paths, one a line; - reads standard input", parseNonEmpty)
		.option("-0, --null", "paths of --files-from end in NULs, as find -print0 writes them")
		.addOption(
			new Option(
				"--names <form>",
				"names of files in folders: their path (hr/a.pdf), flat (hr__a.pdf) or base (a.pdf) (default: path)",
			).choices(NAME_FORMS),
		)
		.option("--follow", "follows symbolic links, each target once; they are left out otherwise")
		.option(
			"--no-sidecars",
			`of the files, ${verb} a.pdf.meta.json too; it is read as the metadata of a.pdf otherwise`,
		);
}

/** The flags that mean nothing without folders, as they are typed. */
export function fileFlagsGiven(flags: FileFlags): readonly string[] {
	return OF_FOLDERS.filter((name) => flags[name] !== undefined).map((name) =>
		name === "filesFrom" ? "--files-from" : `--${name}`,
	);
}
