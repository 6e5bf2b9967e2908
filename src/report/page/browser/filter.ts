/** Shows the filter of a table, and hides the rows that do not match what is typed. */
export function makeFilter(section: HTMLElement): void {
	const form = section.querySelector<HTMLElement>(".filter");
	const input = section.querySelector("input");
	const select = section.querySelector("select");
	const count = section.querySelector("output");
	const rows = [...section.querySelectorAll("tbody tr")].filter((row) => row instanceof HTMLElement);
	if (form === null || input === null || count === null || rows.length === 0) return;
	form.hidden = false;
	const texts = rows.map((row) => row.textContent.toLowerCase());
	const apply = (): void => {
		const wanted = input.value.trim().toLowerCase();
		const code = select?.value ?? "";
		let shown = 0;
		for (const [at, row] of rows.entries()) {
			const text = texts[at] ?? "";
			const isCode = code === "" || row.querySelector(".code")?.textContent === code;
			row.hidden = !isCode || !text.includes(wanted);
			if (!row.hidden) shown += 1;
		}
		const all = rows.length.toLocaleString("en-US");
		count.textContent = shown === rows.length ? `${all} shown` : `${shown.toLocaleString("en-US")} of ${all} shown`;
	};
	input.addEventListener("input", apply);
	select?.addEventListener("change", apply);
	// A browser may have kept what was typed before the page was loaded again.
	apply();
}
