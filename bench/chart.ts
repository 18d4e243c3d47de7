/** The chart of docs/benchmarks.md: horizontal bars, group by group, each with an axis of its own; SVG by hand, so that it needs no library. */
import { shown, type Bars } from './report';

const width = 910;
const labelWidth = 380;
const barSpace = 400;
const barHeight = 16;
const rowHeight = 22;
const colours = { ours: '#7c3aed', other: '#9ca3af', text: '#1f2328', faint: '#59636e' };

function escaped(text: string): string {
	return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}

function group({ title, unit, better, bars }: Bars, top: number): string[] {
	const longest = Math.max(...bars.map(({ value }) => value), Number.MIN_VALUE);
	const rows = bars.flatMap(({ label, value, ours }, index) => {
		const y = top + 14 + index * rowHeight;
		const length = Math.max(2, (barSpace * value) / longest);
		const weight = ours ? ' font-weight="600"' : '';
		return [
			`<text x="${labelWidth - 8}" y="${y + 12}" text-anchor="end"${weight}>${escaped(label)}</text>`,
			`<rect x="${labelWidth}" y="${y}" width="${length.toFixed(1)}" height="${barHeight}" rx="2" fill="${ours ? colours.ours : colours.other}"/>`,
			`<text x="${(labelWidth + length + 6).toFixed(1)}" y="${y + 12}" fill="${colours.faint}">${escaped(`${shown(value)} ${unit}`)}</text>`,
		];
	});
	return [
		`<text x="16" y="${top}" font-size="14" font-weight="600">${escaped(title)}<tspan font-size="12" font-weight="400" fill="${colours.faint}"> · ${better} is better${better === 'less' ? ' ←' : ' →'}</tspan></text>`,
		...rows,
	];
}

/** All groups one below the other, on a white ground so that it reads in dark themes, too. */
export function chart(groups: readonly Bars[]): string {
	let top = 34;
	const parts: string[] = [];
	for (const bars of groups) {
		parts.push(...group(bars, top));
		top += 14 + bars.bars.length * rowHeight + 32;
	}
	const height = top - 16;
	return [
		`<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" font-family="system-ui, sans-serif" font-size="12" fill="${colours.text}">`,
		`<rect width="${width}" height="${height}" rx="8" fill="#ffffff"/>`,
		...parts,
		'</svg>',
		'',
	].join('\n');
}
