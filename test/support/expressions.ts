/** What `${{ }}` of GitHub Actions may name: `inputs`, `env`, `steps`, `github` and others, as nested objects of texts. */
export type Contexts = { readonly [name: string]: string | Contexts | undefined };

/** A text of a workflow with its expressions replaced by their values. */
export function expand(text: string, contexts: Contexts): string {
	return text.replace(/\$\{\{(.*?)\}\}/gs, (_all, expression: string) => valueOf(expression, contexts));
}

/** Whether an `if` holds. Without a status function it also needs that no step has failed. */
export function holds(condition: string, contexts: Contexts, hasFailed: boolean): boolean {
	const expression = condition.replace(/^\$\{\{(.*)\}\}$/s, "$1");
	if (hasFailed && !/\b(always|failure)\(\)/.test(expression)) return false;
	const value = valueOf(expression.replace("failure()", hasFailed ? "'true'" : "''"), contexts);
	return value !== "" && value !== "false";
}

/** The operators that our YAML uses, by how loosely they bind: `||`, `&&`, then one comparison. */
function valueOf(expression: string, contexts: Contexts): string {
	const or = expression.split("||");
	if (or.length > 1) return or.map((part) => valueOf(part, contexts)).find((value) => isTrue(value)) ?? "";
	const and = expression.split("&&").map((part) => comparison(part.trim(), contexts));
	return and.find((value) => !isTrue(value)) ?? and.at(-1) ?? "";
}

const isTrue = (value: string): boolean => value !== "" && value !== "false";

function comparison(text: string, contexts: Contexts): string {
	const [, left, operator, right] = /^(.*?)\s*([!=]=)\s*(.*)$/s.exec(text) ?? [];
	if (left === undefined || right === undefined) return operand(text, contexts);
	return String((operand(left, contexts) === operand(right, contexts)) === (operator === "=="));
}

function operand(text: string, contexts: Contexts): string {
	const literal = /^'(.*)'$/s.exec(text)?.[1];
	if (literal !== undefined) return literal;
	if (text === "always()") return "true";
	let value: string | Contexts | undefined = contexts;
	for (const name of text.split(".")) {
		if (!/^[\w-]+$/.test(name)) throw new Error(`an expression that the tests do not know: ${text}`);
		value = typeof value === "object" ? value[name] : undefined;
	}
	return typeof value === "string" ? value : "";
}
