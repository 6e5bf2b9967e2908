import { numberText } from "../text/words.ts";

/** A rate a second: `0.5`, `98`. */
export function rateText(rate: number): string {
	return rate < 10 && !Number.isInteger(rate) ? rate.toFixed(1) : numberText(Math.round(rate));
}

/** Whole seconds: `12s`, `3m05s`, `2h07m`. */
export function duration(seconds: number): string {
	if (seconds < 60) return `${seconds}s`;
	if (seconds < 3600) return `${Math.floor(seconds / 60)}m${two(seconds % 60)}s`;
	return `${Math.floor(seconds / 3600)}h${two(Math.floor((seconds % 3600) / 60))}m`;
}

/** Seconds as a clock shows them: `0:41`, `15:00`, `1:02:03`. */
export function clockText(seconds: number): string {
	const whole = Math.floor(seconds);
	const rest = `${two(Math.floor((whole % 3600) / 60))}:${two(whole % 60)}`;
	return whole < 3600 ? rest.replace(/^0/, "") : `${Math.floor(whole / 3600)}:${rest}`;
}

const two = (number: number): string => String(number).padStart(2, "0");
