/** What a measure gives. `figure` is absent where it could not be measured, and `why` says why. */
export type Figure = {
	readonly name: string;
	readonly figure?: number | undefined;
	readonly goal?: string | undefined;
	readonly why?: string | undefined;
};

export function holds(figure: number | undefined, goal: string | undefined): boolean | null;
export function jsonLine(figure: Figure): string;
export const TABLE_HEAD: string;
export function tableRow(figure: Figure): string;
export function tableOf(objects: readonly Readonly<Record<string, number | undefined>>[]): string;
export function verdictText(figures: readonly Figure[]): string;
export function withSection(page: string, heading: string, text: string): string;
