import { PNG } from 'pngjs';
import { hash } from '../random';

export interface PictureSize {
	width: number;
	height: number;
}

/** Pixels for an aspect ratio such as `16:9`: `shortSide` px on the short side; a square where none is given. */
export function pictureSize(aspectRatio: unknown, shortSide = 64): PictureSize {
	const match = /^(\d+(?:\.\d+)?):(\d+(?:\.\d+)?)$/.exec(
		typeof aspectRatio === 'string' ? aspectRatio : '',
	);
	const ratio = match ? Number(match[1]) / Number(match[2]) : 1;
	if (!Number.isFinite(ratio) || ratio < 1 / 8 || ratio > 8)
		return { width: shortSide, height: shortSide };
	return ratio >= 1
		? { width: Math.round(shortSide * ratio), height: shortSide }
		: { width: shortSide, height: Math.round(shortSide / ratio) };
}

/** A real PNG: a colour gradient that depends on the prompt and the picture's index. */
export function picturePng(prompt: string, index: number, { width, height }: PictureSize): Buffer {
	const colour = hash(`${prompt}#${index}`);
	const png = new PNG({ width, height });
	for (let y = 0; y < height; y++) {
		for (let x = 0; x < width; x++) {
			const at = (y * width + x) * 4;
			png.data[at] = (colour & 0xff) ^ Math.floor((x * 127) / width);
			png.data[at + 1] = ((colour >> 8) & 0xff) ^ Math.floor((y * 127) / height);
			png.data[at + 2] = (colour >> 16) & 0xff;
			png.data[at + 3] = 255;
		}
	}
	return PNG.sync.write(png);
}
