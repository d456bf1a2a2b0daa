"""What deep learners with a replay share: acting, nets and targets, frozen evaluation."""
