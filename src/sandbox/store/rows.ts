/** A text column of a row. Rows come untyped from SQLite, whose columns may hold anything: so they are looked at. */
export function textColumn(row: unknown, column: string): string {
	const value = columnOf(row, column);
	if (typeof value !== "string") throw new Error(`Column ${column} of the sandbox's data is not text`);
	return value;
}

export function integerColumn(row: unknown, column: string): number {
	const value = columnOf(row, column);
	if (typeof value !== "number") throw new Error(`Column ${column} of the sandbox's data is not a number`);
	return value;
}

function columnOf(row: unknown, column: string): unknown {
	if (typeof row !== "object" || row === null) throw new Error("A row of the sandbox's data is missing");
	const value: unknown = Reflect.get(row, column);
	return value;
}
