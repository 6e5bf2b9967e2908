/** Words that mean the same to people who search, a line each. The pages use one or two of each line. */
const SAME = `
metadata tag label field attribute annotate
key property column
delete remove rm erase purge wipe gone lost
undo rollback revert restore recover
resume continue retry interrupt abort crash kill checkpoint
429 rate limit throttle requests overload tps slow
preview dry-run simulate dryrun diff
token apikey key secret credential password login auth
folder directory
excel xlsx spreadsheet sheet workbook
csv semicolon delimiter separator comma
encoding umlaut garbled charset windows-1252 utf-8 accent
nightly cron night schedule timer overlap
timeout stuck hang stall silence
certificate ca-file tls ssl x509 self-signed
proxy no_proxy https_proxy corporate
machine shard parallel worker cluster kubernetes
prometheus metric monitor alert
ci github gitlab pipeline action
exit-code code status exit
fail error reject bad
approve review plan
backup download export dump
upload ingest import put
parse parsing chunk
batch bulk thousand
existing present current
dataset knowledge collection
document file
duplicate twice
verify check read-back
`;

const MEANINGS: ReadonlyMap<string, readonly string[]> = meanings();

function meanings(): Map<string, string[]> {
	const found = new Map<string, string[]>();
	for (const line of SAME.trim().split("\n")) {
		const stems = line.split(" ").map(stemOf);
		for (const stem of stems) found.set(stem, [...(found.get(stem) ?? []), ...stems]);
	}
	return found;
}

/** Words without a meaning of their own in a question. */
const EMPTY = new Set(
	"a an the too many of to in on at by for from with without and or is are was were be been it its this that these those i me my we our you your he they do does did can could should would will how what when where which who why not no any all some there if then than so as into out up after before while each every one get got want need make use using via again only also just have has had".split(
		" ",
	),
);

/** The words of a text, in small letters. `dry-run` is a word, and so are `dry` and `run`. */
export function wordsOf(text: string): readonly string[] {
	const words = text.toLowerCase().match(/[\p{L}\p{N}]+(?:[-_][\p{L}\p{N}]+)*/gu) ?? [];
	return words.flatMap((word) => (/[-_]/.test(word) ? [word, ...word.split(/[-_]/)] : [word]));
}

/** A word without the ends of plural, -ing and -ed. Both sides of a comparison are cut in the same way. */
export function stemOf(word: string): string {
	if (word.length < 4) return word;
	const stem = word
		.replace(/ies$/, "y")
		.replace(/(?:ings?|ed)$/, "")
		.replace(/(?<=(?:ss|sh|ch|x))es$/, "")
		.replace(/(?<![su])s$/, "")
		.replace(/e$/, "");
	if (stem.length < 3) return word;
	return stem.replace(/([bdgmnprt])\1$/, "$1");
}

/** A word that is searched for, and others that mean the same, as stems. */
export type Wanted = { readonly stem: string; readonly alike: ReadonlySet<string> };

export function wantedIn(question: string): readonly Wanted[] {
	const all = wordsOf(question.replace(/too many requests/i, "429").replace(/api.key/i, "token"));
	const full = all.filter((word) => !EMPTY.has(word));
	const stems = new Set((full.length > 0 ? full : all).map(stemOf));
	return [...stems].map((stem) => ({ stem, alike: new Set(MEANINGS.get(stem)?.filter((each) => each !== stem)) }));
}
