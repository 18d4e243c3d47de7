import { pace } from '../../nodes/MediaGeneration/task/pace';

const S = 1_000;

test.each<[ageS: number, progress: number | undefined, pauseS: number]>([
	// A tenth of the age, between a second and a minute.
	[0, undefined, 1],
	[0, 0, 1],
	[10, undefined, 1],
	[100, undefined, 10],
	[3_600, undefined, 60],
	// What says nothing of the end.
	[100, 0, 10],
	[100, 100, 10],
	// The rest that the progress promises, never later than by age.
	[100, 95, 100 / 19 + 0.05],
	[100, 50, 10],
	[2, 75, 2 / 3 + 0.05],
	// At least half a second, and a share of the age.
	[2, 99, 0.5],
	[100, 99, 2],
	[3_600, 99, 60],
])('at %d s with progress %p: after %d s', (ageS, progress, pauseS) => {
	expect(pace(ageS * S, progress)).toBeCloseTo(pauseS * S, 6);
});
