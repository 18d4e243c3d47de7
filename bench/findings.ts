/** What was found behind the numbers, by bench: in words that stay true from run to run. */
export const findings: Record<string, string> = {};
