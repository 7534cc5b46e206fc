//! Multinomial logistic regression, as a baseline for classifiers.

/// Accuracy and mean log-likelihood on test points of the maximum-likelihood fit to training points, by gradient ascent.
///
/// Points are features and a class, from 0.
pub fn logistic_regression(train: &[(Vec<f64>, usize)], test: &[(Vec<f64>, usize)], classes: usize) -> (f64, f64) {
    const STEPS: usize = 3000;
    const RATE: f64 = 0.5;
    let features = train[0].0.len();
    let mut weights = vec![vec![0.0; features + 1]; classes];
    let softmax = |weights: &[Vec<f64>], x: &[f64]| {
        let score = |w: &Vec<f64>| (w[0] + w[1..].iter().zip(x).map(|(w, x)| w * x).sum::<f64>()).exp();
        let e: Vec<f64> = weights.iter().map(score).collect();
        let sum: f64 = e.iter().sum();
        e.into_iter().map(|v| v / sum).collect::<Vec<_>>()
    };
    for _ in 0..STEPS {
        let mut gradient = vec![vec![0.0; features + 1]; classes];
        for (x, class) in train {
            for (c, p) in softmax(&weights, x).into_iter().enumerate() {
                let error = if *class == c { 1.0 - p } else { -p };
                gradient[c][0] += error;
                gradient[c][1..].iter_mut().zip(x).for_each(|(g, x)| *g += error * x);
            }
        }
        let step = RATE / train.len() as f64;
        weights.iter_mut().flatten().zip(gradient.iter().flatten()).for_each(|(w, g)| *w += step * g);
    }
    let (mut right, mut log_likelihood) = (0.0, 0.0);
    for (x, class) in test {
        let p = softmax(&weights, x);
        right += if p.iter().all(|q| *q <= p[*class]) { 1.0 } else { 0.0 };
        log_likelihood += p[*class].ln();
    }
    (right / test.len() as f64, log_likelihood / test.len() as f64)
}
