// Makes the manual pages from what `ragtag help --json` prints, so that they can't name what is not there.

/** Text as roff shows it: no macro at the beginning of a line, no escape, a hyphen that can be copied. */
const plain = (text) =>
	text
		.replaceAll("\\", "\\e")
		.replaceAll("-", "\\-")
		.replaceAll(/^(['.])/gm, "\\&$1");
const bold = (text) => `\\fB${plain(text)}\\fR`;
const italic = (text) => `\\fI${plain(text)}\\fR`;
const pageOf = (command) => ["ragtag", ...command.split(" ").filter(Boolean)].join("-");

function optionLines({ flag, short, value, choices, default: byDefault, description }) {
	const name = [short, flag].filter(Boolean).map(bold).join(", ") + (value === null ? "" : ` ${italic(value)}`);
	const facts = [
		...(choices === null ? [] : [`one of ${choices.join(", ")}`]),
		...(byDefault === null || description.includes("(default:") ? [] : [`default: ${byDefault}`]),
	];
	return [".TP", name, plain(facts.length === 0 ? description : `${description} (${facts.join("; ")})`)];
}

function optionSections(options) {
	const groups = new Map();
	for (const option of options) groups.set(option.group, [...(groups.get(option.group) ?? []), option]);
	return [...groups].flatMap(([group, own]) => [`.SS ${plain(group)}`, ...own.flatMap(optionLines)]);
}

/** The pages by their file names. @param tree the line of type "help" */
export function manPages(tree) {
	const [program] = tree.commands;
	return new Map(
		tree.commands.map((entry) => {
			const { command, summary, description, usage, examples, options, commands } = entry;
			const page = pageOf(command);
			const lines = [
				`.TH ${page.toUpperCase().replaceAll("-", "\\-")} 1 "" "ragtag ${tree.ragtag}" "ragtag"`,
				".SH NAME",
				`${plain(page)} \\- ${plain(summary)}`,
				".SH SYNOPSIS",
				plain(usage),
				".SH DESCRIPTION",
				plain(description),
			];
			for (const { name, description: text } of entry.arguments) lines.push(".TP", italic(name), plain(text));
			if (commands.length > 0) {
				lines.push(".SH COMMANDS");
				for (const name of commands) {
					const below = tree.commands.find((one) => one.command === `${command} ${name}`.trim());
					lines.push(".TP", `${bold(pageOf(below.command))}(1)`, plain(below.summary));
				}
			}
			if (options.length > 0) lines.push(".SH OPTIONS", ...optionSections(options));
			if (command !== "") lines.push(".SH GLOBAL OPTIONS", ...program.options.flatMap(optionLines));
			if (examples.length > 0) {
				lines.push(".SH EXAMPLES", ".nf", ...examples.map(plain), ".fi");
			}
			lines.push(".SH EXIT STATUS");
			for (const { code, meaning } of tree.exit_codes) lines.push(".TP", bold(String(code)), plain(meaning));
			const others = tree.commands.filter((one) => one.command !== command && isNear(one.command, command));
			lines.push(".SH SEE ALSO", others.map((one) => `${bold(pageOf(one.command))}(1)`).join(", "));
			return [`${page}.1`, `${lines.join("\n")}\n`];
		}),
	);
}

/** Whether one command is the other's parent, child or sibling. */
function isNear(one, other) {
	const parent = (command) => command.split(" ").slice(0, -1).join(" ");
	return parent(one) === other || parent(other) === one || (parent(one) === parent(other) && other !== "");
}
