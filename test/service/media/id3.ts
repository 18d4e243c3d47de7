/** Tags as taggers write them: ID3v2.3 before the sound, ID3v1 after it. */

/** Seven bits in each byte. */
function syncsafe(size: number): Buffer {
	return Buffer.from([21, 14, 7, 0].map((shift) => (size >> shift) & 0x7f));
}

export function id3v2(title: string): Buffer {
	const text = Buffer.concat([Buffer.from([0]), Buffer.from(title, 'latin1')]);
	const frame = Buffer.alloc(10);
	frame.write('TIT2');
	frame.writeUInt32BE(text.length, 4);
	const padding = Buffer.alloc(200);
	const size = frame.length + text.length + padding.length;
	return Buffer.concat([Buffer.from('ID3\x03\0\0'), syncsafe(size), frame, text, padding]);
}

export function id3v1(title: string): Buffer {
	const tag = Buffer.alloc(128);
	tag.write('TAG');
	tag.write(title.slice(0, 30), 3, 'latin1');
	return tag;
}
