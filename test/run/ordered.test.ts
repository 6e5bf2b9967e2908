import { expect, it } from "vitest";
import { inOrder } from "../../src/run/ordered.ts";
import { range } from "../support/values.ts";

async function* counted(count: number, onRead: (n: number) => void): AsyncGenerator<number> {
	for (const n of range(count)) {
		onRead(n);
		yield n;
	}
}

it("results come in the order of their rows, and no more rows are read than are in work", async () => {
	let read = 0;
	let open = 0;
	let most = 0;
	const results: number[] = [];
	const work = async (n: number): Promise<number> => {
		most = Math.max(most, (open += 1));
		await new Promise((resolve) => setTimeout(resolve, n % 3));
		open -= 1;
		return n;
	};
	for await (const result of inOrder(
		counted(50, (n) => (read = n + 1)),
		work,
		4,
	)) {
		results.push(result);
		expect(read - results.length).toBeLessThanOrEqual(4);
	}
	expect(results).toEqual(range(50));
	expect(most).toBe(4);
});

it("a failure comes in its order and ends no process before that", async () => {
	const work = async (n: number): Promise<number> => {
		if (n === 2) throw new Error("of the third");
		await new Promise((resolve) => setTimeout(resolve, 5));
		return n;
	};
	const results: number[] = [];
	const all = async (): Promise<void> => {
		for await (const result of inOrder(
			counted(9, () => undefined),
			work,
			5,
		))
			results.push(result);
	};
	await expect(all()).rejects.toThrow("of the third");
	expect(results).toEqual([0, 1]);
});
