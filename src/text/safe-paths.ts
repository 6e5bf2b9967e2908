/** Bytes of a part of a path that are used at most: file systems take 255, and a number may follow. */
const LONGEST_PART = 230;

/** Bytes of an ending that is kept where a name is cut. */
const LONGEST_ENDING = 20;

/** Bytes and folders of a whole path. A name that needs more loses its folders. */
const LONGEST_PATH = 1_000;
const MOST_PARTS = 20;

/** The beginning of the names of this program's own files in the folder. */
export const OWN_PREFIX = ".ragtag-";

/** Names that Windows gives to devices, in any folder and with any ending. */
const DEVICE = /^(?:con|prn|aux|nul|com[\d¹²³]|lpt[\d¹²³]|conin\$|conout\$|clock\$)\s*(?:\.|$)/i;

/** Characters that Windows takes in no name, control characters, and halves of pairs. */
const REFUSED = /[<>:"|?*\\\p{Cc}\p{Surrogate}]/gu;

/**
 * A path below a folder for a name from a server: a slash divides folders, and the path never leads out of the folder. It is
 * a name on Linux, macOS and Windows. Two names may have one path: `PathPlan` numbers them.
 */
function safePath(name: string): string {
	const parts = name
		.split("/")
		.map(safePart)
		.filter((part) => part !== "");
	const path = parts.join("/");
	if (path === "") return "_";
	const isLong = parts.length > MOST_PARTS || Buffer.byteLength(path) > LONGEST_PATH;
	return isLong ? (parts.at(-1) ?? "_") : path;
}

/** One part of a path; empty for `.` and `..`, and where nothing is left of it. */
function safePart(part: string): string {
	const plain = trimmed(part.replaceAll(REFUSED, "_"));
	const named = DEVICE.test(plain) || plain.toLowerCase().startsWith(OWN_PREFIX) ? `_${plain}` : plain;
	return shortened(named);
}

/** Without blanks at both ends and dots at the end, which Windows drops. */
function trimmed(text: string): string {
	return text.trimStart().replace(/[\s.]+$/u, "");
}

function shortened(part: string): string {
	if (Buffer.byteLength(part) <= LONGEST_PART) return part;
	const [stem, ending] = divided(part);
	const kept = Buffer.byteLength(ending) <= LONGEST_ENDING ? ending : "";
	const most = LONGEST_PART - Buffer.byteLength(kept);
	const bytes = Buffer.from(kept === "" ? part : stem).subarray(0, most);
	// As of a stream that goes on, a character that was cut is left out.
	return trimmed(new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes, { stream: true })) + kept;
}

/** `a.md` as `a` and `.md`. The dot of `.profile` begins a hidden name, and no ending. */
function divided(part: string): readonly [stem: string, ending: string] {
	const dot = part.lastIndexOf(".");
	return dot > 0 ? [part.slice(0, dot), part.slice(dot)] : [part, ""];
}

/** Equal for paths that are one on some file system: letter case and the composition of letters do not count. */
function pathKey(path: string): string {
	return path.normalize("NFKC").toUpperCase().toLowerCase().normalize("NFKC");
}

/** Gives each name of a server a path of its own below one folder. */
export class PathPlan {
	readonly #files = new Set<string>();
	readonly #folders = new Set<string>();
	/** the number that was given last for a path */
	readonly #numbers = new Map<string, number>();

	/** Whether a path is one that a plan may have given to a name: a record of it may be anybody's text. */
	static mayHave(name: string, path: string): boolean {
		const withoutNumber = path.replace(/ \(\d+\)(?=(?:\.[^./]*)?$)/, "");
		const plain = safePath(name);
		return [path, withoutNumber].some((each) => each === plain || each === safePath(plain.replaceAll("/", "__")));
	}

	/** Takes a path, unless another name has it. */
	take(path: string): boolean {
		const folders = foldersOf(path).map(pathKey);
		const key = pathKey(path);
		if (this.#files.has(key) || this.#folders.has(key)) return false;
		if (folders.some((folder) => this.#files.has(folder))) return false;
		this.#files.add(key);
		for (const folder of folders) this.#folders.add(folder);
		return true;
	}

	/** A path for a name: `a.md`, or `a (1).md` where that is taken. */
	of(name: string): string {
		const path = safePath(name);
		if (this.take(path)) return path;
		// Another document has the name of one of its folders.
		const isBlocked = foldersOf(path).some((folder) => this.#files.has(pathKey(folder)));
		const base = isBlocked ? safePath(path.replaceAll("/", "__")) : path;
		if (isBlocked && this.take(base)) return base;
		const key = pathKey(base);
		const slash = base.lastIndexOf("/") + 1;
		const [stem, ending] = divided(base.slice(slash));
		for (let number = (this.#numbers.get(key) ?? 0) + 1; ; number += 1) {
			const numbered = `${base.slice(0, slash)}${stem} (${number})${ending}`;
			if (!this.take(numbered)) continue;
			this.#numbers.set(key, number);
			return numbered;
		}
	}
}

/** The folders that a path is in: of `a/b/c` it is `a` and `a/b`. */
function foldersOf(path: string): string[] {
	const folders: string[] = [];
	for (let slash = path.indexOf("/"); slash !== -1; slash = path.indexOf("/", slash + 1)) {
		folders.push(path.slice(0, slash));
	}
	return folders;
}
