// What a release needs that no test can know. `node scripts/release.mjs TAG` checks it and prints the release notes; `--write` puts
// what scripts/publisher.json says into package.json and SECURITY.md. `--publisher FILE` takes another file.
import { readFile, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";

const root = fileURLToPath(new URL("..", import.meta.url));
const { values, positionals } = parseArgs({
	allowPositionals: true,
	options: { write: { type: "boolean", default: false }, publisher: { type: "string" } },
});

const FORMS = {
	repository: { form: /^https:\/\/\S+$/, what: "the address of the repository, beginning with https://" },
	homepage: { form: /^https:\/\/\S+$/, what: "the address of the home page, beginning with https://" },
	bugs: { form: /^https:\/\/\S+$/, what: "where faults are reported, beginning with https://" },
	security: {
		form: /^(?:https:\/\/\S+|[^\s@]+@[^\s@]+)$/,
		what: "where holes are reported in private: an address of the web or of mail",
	},
};

const NO_ADDRESS =
	"**There is no address yet.** Whoever publishes this program fills in `scripts/publisher.json`, and a release fails until then. " +
	"Ask the person that you have the program from.";

const read = (name) => readFile(join(root, name), "utf8");
const [manifest, changelog, page] = await Promise.all(["package.json", "CHANGELOG.md", "SECURITY.md"].map(read));
const publisher = JSON.parse(
	await readFile(values.publisher ? resolve(values.publisher) : join(root, "scripts/publisher.json"), "utf8"),
);
const { version, ...described } = JSON.parse(manifest);

/** package.json with the addresses, each in its place: those that are empty are left out. */
function describedBy() {
	const { license, repository: _r, homepage: _h, bugs: _b, ...rest } = { version, ...described };
	const { repository, homepage, bugs } = publisher;
	const added = {
		...(homepage === "" ? {} : { homepage }),
		...(bugs === "" ? {} : { bugs: { url: bugs } }),
		license,
		...(repository === ""
			? {}
			: { repository: { type: "git", url: `git+${repository.replace(/(?:\.git)?$/, ".git")}` } }),
	};
	const { name, version: number, description, keywords, ...more } = rest;
	return `${JSON.stringify({ name, version: number, description, keywords, ...added, ...more }, null, "\t")}\n`;
}

/** SECURITY.md with the address between its two marks. */
function pageWithAddress() {
	const text = publisher.security === "" ? NO_ADDRESS : `Write to <${publisher.security}>.`;
	return page.replace(/(<!-- publisher -->\n)[^]*(\n<!-- \/publisher -->)/, (_, begin, end) => `${begin}${text}${end}`);
}

/** The part of the changelog for this version; undefined where there is none. */
function notes() {
	const begin = changelog.indexOf(`\n## [${version}]`);
	if (begin === -1) return undefined;
	const text = changelog.slice(changelog.indexOf("\n", begin + 1));
	return text.split(/\n## \[/, 1)[0].trim();
}

function faults(tag) {
	const found = [];
	for (const [name, { form, what }] of Object.entries(FORMS)) {
		if (!form.test(publisher[name] ?? "")) found.push(`scripts/publisher.json: "${name}" must be ${what}`);
	}
	if (found.length === 0 && (describedBy() !== manifest || pageWithAddress() !== page))
		found.push("package.json or SECURITY.md has other addresses: run node scripts/release.mjs --write, and commit");
	if (tag !== `v${version}`) found.push(`the tag is ${tag}, and package.json has version ${version}`);
	if ((notes() ?? "") === "") found.push(`CHANGELOG.md has no section [${version}]`);
	if (/\n## \[Unreleased\]\s+[^#\s]|\n## \[Unreleased\]\s+###/.test(changelog))
		found.push("CHANGELOG.md has unreleased changes: move them into the section of the version");
	return found;
}

if (values.write) {
	await writeFile(join(root, "package.json"), describedBy());
	await writeFile(join(root, "SECURITY.md"), pageWithAddress());
} else {
	const found = faults(positionals[0] ?? "missing");
	for (const fault of found) process.stderr.write(`release: ${fault}\n`);
	if (found.length === 0) process.stdout.write(`${notes()}\n`);
	else process.exitCode = 1;
}
