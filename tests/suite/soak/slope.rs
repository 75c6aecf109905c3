//! The line through what was measured.

/// The slope of the least squares line through the points of the second half: the first half may
/// still fill caches.
pub fn of_second_half(points: &[(f64, f64)]) -> f64 {
    let points = &points[points.len() / 2..];
    let count = points.len() as f64;
    let mean = |of: fn(&(f64, f64)) -> f64| points.iter().map(of).sum::<f64>() / count;
    let (mean_x, mean_y) = (mean(|point| point.0), mean(|point| point.1));
    let (mut over, mut under) = (0.0, 0.0);
    for (x, y) in points {
        over += (x - mean_x) * (y - mean_y);
        under += (x - mean_x) * (x - mean_x);
    }
    over / under
}

#[test]
fn a_line_has_its_own_slope() {
    let points: Vec<(f64, f64)> =
        (0..20).map(|x| (f64::from(x), if x < 10 { 1000.0 } else { 3.0 * f64::from(x) })).collect();
    assert!((of_second_half(&points) - 3.0).abs() < 1e-9);
}
