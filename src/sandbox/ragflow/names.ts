/** Tries before a name is given up: what the server allows itself. */
const mostTries = 1000;

/** The name that is stored where `name` may be taken: `a.txt`, then `a(1).txt`, `a(2).txt` and so on. */
export function freeName(name: string, taken: (name: string) => boolean): string {
	let free = name;
	for (let tries = 0; taken(free) && tries < mostTries; tries++) free = nextName(free);
	return free;
}

/** What is before the last slash is lost: the server takes the name for a path here, and for none elsewhere. */
function nextName(path: string): string {
	const name = path.slice(path.lastIndexOf("/") + 1);
	const dot = name.lastIndexOf(".");
	const [stem, ending] = dot < 1 ? [name, ""] : [name.slice(0, dot), name.slice(dot)];
	const [, main = stem, number = "0"] = /^(.*)\((\d+)\)$/.exec(stem) ?? [];
	return `${main}(${Number(number) + 1})${ending}`;
}
