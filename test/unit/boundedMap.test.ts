import { BoundedMap } from '../../nodes/MediaGeneration/base/boundedMap';

test('it forgets what was not used for the longest time, and setting a key again makes it no larger', () => {
	const map = new BoundedMap<string, number>(2);
	for (const key of ['a', 'b', 'b']) map.set(key, 1);
	expect(map.get('a')).toBe(1);
	map.set('c', 1);
	expect([...map.keys()]).toEqual(['a', 'c']);
});
