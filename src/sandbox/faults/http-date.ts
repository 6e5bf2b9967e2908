const days = ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"];

/** A date in one of the three forms that RFC 9110 (5.6.7) has recipients understand. */
export function httpDate(date: Date, form: "date" | "rfc850" | "asctime"): string {
	const preferred = date.toUTCString();
	if (form === "date") return preferred;
	// Sun, 06 Nov 1994 08:49:37 GMT
	const [day = "", number = "", month = "", year = "", time = ""] = preferred.split(/,? /);
	if (form === "asctime") return `${day} ${month} ${number.replace(/^0/, " ")} ${time} ${year}`;
	return `${days[date.getUTCDay()]}, ${number}-${month}-${year.slice(-2)} ${time} GMT`;
}
